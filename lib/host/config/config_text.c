#include "config/config_text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_BYTES_MAX = 1 << 20, MESSAGE_MAX = 1024, DEPTH_MAX = 32 /* of groups in groups; they have 6 */ };

/* Reports a message without control characters, which a quoted value may contain. */
static void say(const struct config_text *t, char message[MESSAGE_MAX])
{
    for (char *p = message; *p != '\0'; p++)
        if (iscntrl((unsigned char)*p))
            *p = '?';
    t->report(t->context, message);
}

/* line 0: about the file as a whole; path "": about no value in particular. */
static void report(struct config_text *t, size_t line, const char *path, const char *format, va_list args)
{
    char what[MESSAGE_MAX / 2], where[32] = "", message[MESSAGE_MAX];

    if (config_text_is_full(t))
        return;
    snprintf(t->faulty[t->faults], CONFIG_PATH_MAX, "%s", path);
    vsnprintf(what, sizeof(what), format, args);
    if (line > 0)
        snprintf(where, sizeof(where), ":%zu", line);
    snprintf(message, sizeof(message), "%s%s: %s%s%s", t->file, where, path, path[0] != '\0' ? ": " : "",
             what);
    say(t, message);
    if (++t->faults < CONFIG_FAULTS_MAX)
        return;
    snprintf(message, sizeof(message), "%s: %u mistakes; further ones are not listed", t->file, t->faults);
    say(t, message);
}

/* Whether the path inner is outer, or leads to a part of it. */
static bool is_within(const char *inner, const char *outer)
{
    const size_t length = strlen(outer);

    return length > 0 && strncmp(inner, outer, length) == 0 && strchr(".[", inner[length]) != NULL;
}

bool config_text_is_faulty(const struct config_text *t, const char *path)
{
    for (unsigned i = 0; i < t->faults; i++)
        if (is_within(path, t->faulty[i]) || is_within(t->faulty[i], path))
            return true;
    return false;
}

bool config_text_is_full(const struct config_text *t)
{
    return t->faults == CONFIG_FAULTS_MAX;
}

void config_fault_at(struct config_text *t, size_t line, const char *path, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    report(t, line, path, format, args);
    va_end(args);
}

/* One step down the tree: the value of a key, and the line of the key. */
static yaml_node_t *step_key(struct config_text *t, yaml_node_t *map, const char *key, size_t length,
                             size_t *line)
{
    if (map->type != YAML_MAPPING_NODE)
        return NULL;
    for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
        yaml_node_t *k = yaml_document_get_node(&t->document, p->key);

        if (k->type == YAML_SCALAR_NODE && k->data.scalar.length == length &&
            memcmp(k->data.scalar.value, key, length) == 0) {
            *line = config_line(k->start_mark);
            return yaml_document_get_node(&t->document, p->value);
        }
    }
    return NULL;
}

static yaml_node_t *step_index(struct config_text *t, yaml_node_t *list, size_t index, size_t *line)
{
    yaml_node_t *item;

    if (list->type != YAML_SEQUENCE_NODE ||
        index >= (size_t)(list->data.sequence.items.top - list->data.sequence.items.start))
        return NULL;
    item = yaml_document_get_node(&t->document, list->data.sequence.items.start[index]);
    *line = config_line(item->start_mark);
    return item;
}

/* Follows path as far as the tree has it. Returns whether that was to its end; *line: the line of the last
 * node found. */
static bool find(struct config_text *t, const char *path, size_t *line)
{
    yaml_node_t *node = yaml_document_get_root_node(&t->document);

    *line = config_line(node->start_mark);
    while (node != NULL && *path != '\0') {
        if (*path == '[') {
            char *end;

            node = step_index(t, node, strtoul(path + 1, &end, 10), line);
            path = end + 1;
        } else {
            size_t length;

            path += *path == '.';
            length = strcspn(path, ".[");
            node = step_key(t, node, path, length, line);
            path += length;
        }
    }
    return node != NULL;
}

bool config_text_has(struct config_text *t, const char *path)
{
    size_t line;

    return find(t, path, &line);
}

void config_fault(struct config_text *t, const char *path, const char *format, ...)
{
    va_list args;
    size_t line;

    find(t, path, &line);
    va_start(args, format);
    report(t, line, path, format, args);
    va_end(args);
}

static int unreadable(struct config_text *t, int error, const char *why)
{
    config_fault_at(t, 0, "", "cannot be read: %s", why);
    return -error;
}

/* What reading would wait for, or never come to the end of, is not read. */
static int check_file(struct config_text *t, int fd)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return unreadable(t, errno, strerror(errno));
    if (S_ISDIR(st.st_mode))
        return unreadable(t, EISDIR, strerror(EISDIR));
    if (!S_ISREG(st.st_mode))
        return unreadable(t, EINVAL, "it is a device or a pipe, not a file");
    if (st.st_size >= FILE_BYTES_MAX)
        return unreadable(t, EFBIG, "it is longer than any configuration (1 MiB)");
    return 0;
}

static int read_bytes(struct config_text *t, int fd)
{
    ssize_t n = 1;

    t->bytes = malloc(FILE_BYTES_MAX);
    if (t->bytes == NULL)
        return unreadable(t, ENOMEM, strerror(ENOMEM));
    while (n > 0 && t->length < FILE_BYTES_MAX) {
        n = read(fd, t->bytes + t->length, FILE_BYTES_MAX - t->length);
        t->length += n > 0 ? (size_t)n : 0;
    }
    return n < 0 ? unreadable(t, errno, strerror(errno)) : 0;
}

/* Opening does not wait for the other end of a pipe. */
static int read_file(struct config_text *t)
{
    const int fd = open(t->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    int ret;

    if (fd < 0)
        return unreadable(t, errno, strerror(errno));
    ret = check_file(t, fd);
    if (ret == 0)
        ret = read_bytes(t, fd);
    close(fd);
    return ret;
}

/* What is behind most of the parser's complaints, in its user's words. */
static const char *usual_mistake(const struct config_text *t, const yaml_parser_t *p)
{
    const size_t at = p->problem_mark.index;

    if (at < t->length && t->bytes[at] == '\t')
        return "; indent with spaces, not with tabs";
    if ((p->context != NULL && strstr(p->context, "block") != NULL) ||
        (p->problem != NULL && strstr(p->problem, "mapping values") != NULL))
        return "; is the line indented as those that it belongs to?";
    return "";
}

static void report_yaml_error(struct config_text *t, const yaml_parser_t *p)
{
    const char *mistake = usual_mistake(t, p);

    if (p->context != NULL)
        config_fault_at(t, config_line(p->problem_mark), "", "not YAML: %s, %s that begins in line %zu%s",
                        p->problem, p->context, config_line(p->context_mark), mistake);
    else
        config_fault_at(t, config_line(p->problem_mark), "", "not YAML: %s%s",
                        p->problem != NULL ? p->problem : "out of memory", mistake);
}

static int step_of(yaml_event_type_t event)
{
    switch (event) {
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        return 1;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return -1;
    default:
        return 0;
    }
}

/* libyaml's time grows with the square of the depth: minutes for a file of brackets. What is not YAML is left
 * to whoever reads it. */
static int check_depth(struct config_text *t, yaml_parser_t *p)
{
    yaml_event_t event;
    bool more = true;
    int depth = 0;

    yaml_parser_set_input_string(p, (const unsigned char *)t->bytes, t->length);
    while (more && depth <= DEPTH_MAX && yaml_parser_parse(p, &event)) {
        depth += step_of(event.type);
        if (depth > DEPTH_MAX)
            config_fault_at(t, config_line(event.start_mark), "",
                            "groups within groups, more than %d deep: no configuration is", DEPTH_MAX);
        more = event.type != YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    return depth > DEPTH_MAX ? -EINVAL : 0;
}

/* A second document would be ignored silently, so nothing may follow the first. */
static int expect_end(struct config_text *t, yaml_parser_t *p)
{
    yaml_document_t next;
    yaml_node_t *root;

    if (!yaml_parser_load(p, &next)) {
        report_yaml_error(t, p);
        return -EINVAL;
    }
    root = yaml_document_get_root_node(&next);
    if (root != NULL)
        config_fault_at(t, config_line(root->start_mark), "",
                        "a second document begins here; a configuration is one: remove the \"---\" line");
    yaml_document_delete(&next);
    return root == NULL ? 0 : -EINVAL;
}

static int parse(struct config_text *t, yaml_parser_t *p)
{
    int ret = -EINVAL;

    yaml_parser_set_input_string(p, (const unsigned char *)t->bytes, t->length);
    if (!yaml_parser_load(p, &t->document)) {
        report_yaml_error(t, p);
        return -EINVAL;
    }
    if (yaml_document_get_root_node(&t->document) == NULL)
        config_fault_at(t, 0, "", "the file is empty; the least is: ports: [{device: kernel:eth0}]");
    else
        ret = expect_end(t, p);
    if (ret < 0)
        yaml_document_delete(&t->document);
    return ret;
}

static int with_parser(struct config_text *t, int (*look)(struct config_text *t, yaml_parser_t *p))
{
    yaml_parser_t parser;
    int ret;

    if (t->bytes == NULL || !yaml_parser_initialize(&parser))
        return unreadable(t, ENOMEM, strerror(ENOMEM));
    ret = look(t, &parser);
    yaml_parser_delete(&parser);
    return ret;
}

/* Parses t->bytes, which it frees on error. */
static int parse_bytes(struct config_text *t)
{
    int ret = with_parser(t, check_depth);

    if (ret == 0)
        ret = with_parser(t, parse);
    if (ret < 0)
        free(t->bytes);
    return ret;
}

int config_text_read(struct config_text *t, const char *file, config_report report_to, void *context)
{
    int ret;

    *t = (struct config_text){.file = file, .report = report_to, .context = context};
    ret = read_file(t);
    if (ret == 0)
        return parse_bytes(t);
    free(t->bytes);
    return ret;
}

int config_text_take(struct config_text *t, const char *name, const char *text, config_report report_to,
                     void *context)
{
    *t = (struct config_text){
        .file = name, .bytes = strdup(text), .length = strlen(text), .report = report_to, .context = context};
    return parse_bytes(t);
}

void config_text_free(struct config_text *t)
{
    yaml_document_delete(&t->document);
    free(t->bytes);
}
