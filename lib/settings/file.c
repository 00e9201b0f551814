/* The text of a file of settings, its YAML tree, and the list of what is wrong. */
#include "settings/settings.h"

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
static void say(const struct settings *s, char message[MESSAGE_MAX])
{
    for (char *p = message; *p != '\0'; p++)
        if (iscntrl((unsigned char)*p))
            *p = '?';
    s->report(s->context, message);
}

/* line 0: about the file as a whole; path "": about no value in particular. */
static void report(struct settings *s, size_t line, const char *path, const char *format, va_list args)
{
    char what[MESSAGE_MAX / 2], where[32] = "", message[MESSAGE_MAX];

    if (settings_are_full(s))
        return;
    snprintf(s->faulty[s->faults], SETTINGS_PATH_MAX, "%s", path);
    vsnprintf(what, sizeof(what), format, args);
    if (line > 0)
        snprintf(where, sizeof(where), ":%zu", line);
    snprintf(message, sizeof(message), "%s%s: %s%s%s", s->file, where, path, path[0] != '\0' ? ": " : "",
             what);
    say(s, message);
    if (++s->faults < SETTINGS_FAULTS_MAX)
        return;
    snprintf(message, sizeof(message), "%s: %u mistakes; further ones are not listed", s->file, s->faults);
    say(s, message);
}

/* Whether the path inner is outer, or leads to a part of it. */
static bool is_within(const char *inner, const char *outer)
{
    const size_t length = strlen(outer);

    return length > 0 && strncmp(inner, outer, length) == 0 && strchr(".[", inner[length]) != NULL;
}

bool settings_are_faulty(const struct settings *s, const char *path)
{
    for (unsigned i = 0; i < s->faults; i++)
        if (is_within(path, s->faulty[i]) || is_within(s->faulty[i], path))
            return true;
    return false;
}

bool settings_are_full(const struct settings *s)
{
    return s->faults == SETTINGS_FAULTS_MAX;
}

bool settings_fault_at(struct settings *s, size_t line, const char *path, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    report(s, line, path, format, args);
    va_end(args);
    return false;
}

yaml_node_pair_t *settings_pair(struct settings *s, const yaml_node_t *map, const char *key, size_t length)
{
    for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
        const yaml_node_t *k = yaml_document_get_node(&s->document, p->key);
        const char *text = (const char *)k->data.scalar.value;

        if (k->type == YAML_SCALAR_NODE && strncmp(text, key, length) == 0 && text[length] == '\0')
            return p;
    }
    return NULL;
}

/* One step down the tree: the value of a key, and the line of the key. */
static yaml_node_t *step_key(struct settings *s, yaml_node_t *map, const char *key, size_t length,
                             size_t *line)
{
    const yaml_node_pair_t *p = map->type == YAML_MAPPING_NODE ? settings_pair(s, map, key, length) : NULL;

    if (p == NULL)
        return NULL;
    *line = settings_line(yaml_document_get_node(&s->document, p->key)->start_mark);
    return yaml_document_get_node(&s->document, p->value);
}

static yaml_node_t *step_index(struct settings *s, yaml_node_t *list, size_t index, size_t *line)
{
    yaml_node_t *item;

    if (list->type != YAML_SEQUENCE_NODE ||
        index >= (size_t)(list->data.sequence.items.top - list->data.sequence.items.start))
        return NULL;
    item = yaml_document_get_node(&s->document, list->data.sequence.items.start[index]);
    *line = settings_line(item->start_mark);
    return item;
}

/* The node at path; NULL: the tree has it not. *line: that of the last node found on the way. */
static yaml_node_t *find(struct settings *s, const char *path, size_t *line)
{
    yaml_node_t *node = yaml_document_get_root_node(&s->document);

    *line = settings_line(node->start_mark);
    while (node != NULL && *path != '\0') {
        if (*path == '[') {
            char *end;

            node = step_index(s, node, strtoul(path + 1, &end, 10), line);
            path = end + 1;
        } else {
            size_t length;

            path += *path == '.';
            length = strcspn(path, ".[");
            node = step_key(s, node, path, length, line);
            path += length;
        }
    }
    return node;
}

bool settings_has(struct settings *s, const char *path)
{
    size_t line;

    return find(s, path, &line) != NULL;
}

const char *settings_text(struct settings *s, const char *path)
{
    size_t line;
    const yaml_node_t *node = find(s, path, &line);

    return node == NULL || node->type != YAML_SCALAR_NODE ? NULL : (const char *)node->data.scalar.value;
}

const char *settings_path(struct settings *s, const char *format, ...)
{
    char *path = s->path[s->paths++ % SETTINGS_PATHS];
    va_list args;

    va_start(args, format);
    vsnprintf(path, SETTINGS_PATH_MAX, format, args);
    va_end(args);
    return path;
}

void settings_fault(struct settings *s, const char *path, const char *format, ...)
{
    va_list args;
    size_t line;

    find(s, path, &line);
    va_start(args, format);
    report(s, line, path, format, args);
    va_end(args);
}

static int unreadable(struct settings *s, int error, const char *why)
{
    settings_fault_at(s, 0, "", "cannot be read: %s", why);
    return -error;
}

/* What reading would wait for, or never come to the end of, is not read. */
static int check_file(struct settings *s, int fd)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return unreadable(s, errno, strerror(errno));
    if (S_ISDIR(st.st_mode))
        return unreadable(s, EISDIR, strerror(EISDIR));
    if (!S_ISREG(st.st_mode))
        return unreadable(s, EINVAL, "it is a device or a pipe, not a file");
    if (st.st_size >= FILE_BYTES_MAX)
        return unreadable(s, EFBIG, "it is longer than any configuration (1 MiB)");
    return 0;
}

static int read_bytes(struct settings *s, int fd)
{
    ssize_t n = 1;

    s->bytes = malloc(FILE_BYTES_MAX);
    if (s->bytes == NULL)
        return unreadable(s, ENOMEM, strerror(ENOMEM));
    while (n > 0 && s->length < FILE_BYTES_MAX) {
        n = read(fd, s->bytes + s->length, FILE_BYTES_MAX - s->length);
        s->length += n > 0 ? (size_t)n : 0;
    }
    return n < 0 ? unreadable(s, errno, strerror(errno)) : 0;
}

/* Opening does not wait for the other end of a pipe. */
static int read_file(struct settings *s)
{
    const int fd = open(s->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    int ret;

    if (fd < 0)
        return unreadable(s, errno, strerror(errno));
    ret = check_file(s, fd);
    if (ret == 0)
        ret = read_bytes(s, fd);
    close(fd);
    return ret;
}

/* What is behind most of the parser's complaints, in its user's words. */
static const char *usual_mistake(const struct settings *s, const yaml_parser_t *p)
{
    const size_t at = p->problem_mark.index;

    if (at < s->length && s->bytes[at] == '\t')
        return "; indent with spaces, not with tabs";
    if ((p->context != NULL && strstr(p->context, "block") != NULL) ||
        (p->problem != NULL && strstr(p->problem, "mapping values") != NULL))
        return "; is the line indented as those that it belongs to?";
    return "";
}

static void report_yaml_error(struct settings *s, const yaml_parser_t *p)
{
    const char *mistake = usual_mistake(s, p);

    if (p->context != NULL)
        settings_fault_at(s, settings_line(p->problem_mark), "", "not YAML: %s, %s that begins in line %zu%s",
                          p->problem, p->context, settings_line(p->context_mark), mistake);
    else
        settings_fault_at(s, settings_line(p->problem_mark), "", "not YAML: %s%s",
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
static int check_depth(struct settings *s, yaml_parser_t *p)
{
    yaml_event_t event;
    bool more = true;
    int depth = 0;

    yaml_parser_set_input_string(p, (const unsigned char *)s->bytes, s->length);
    while (more && depth <= DEPTH_MAX && yaml_parser_parse(p, &event)) {
        depth += step_of(event.type);
        if (depth > DEPTH_MAX)
            settings_fault_at(s, settings_line(event.start_mark), "",
                              "groups within groups, more than %d deep: no configuration is", DEPTH_MAX);
        more = event.type != YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    return depth > DEPTH_MAX ? -EINVAL : 0;
}

/* A second document would be ignored silently, so nothing may follow the first. */
static int expect_end(struct settings *s, yaml_parser_t *p)
{
    yaml_document_t next;
    yaml_node_t *root;

    if (!yaml_parser_load(p, &next)) {
        report_yaml_error(s, p);
        return -EINVAL;
    }
    root = yaml_document_get_root_node(&next);
    if (root != NULL)
        settings_fault_at(s, settings_line(root->start_mark), "",
                          "a second document begins here; a configuration is one: remove the \"---\" line");
    yaml_document_delete(&next);
    return root == NULL ? 0 : -EINVAL;
}

static int parse(struct settings *s, yaml_parser_t *p)
{
    int ret = -EINVAL;

    yaml_parser_set_input_string(p, (const unsigned char *)s->bytes, s->length);
    if (!yaml_parser_load(p, &s->document)) {
        report_yaml_error(s, p);
        return -EINVAL;
    }
    if (yaml_document_get_root_node(&s->document) == NULL)
        settings_fault_at(s, 0, "", "the file is empty; the least is: %s", s->least);
    else
        ret = expect_end(s, p);
    if (ret < 0)
        yaml_document_delete(&s->document);
    return ret;
}

static int with_parser(struct settings *s, int (*look)(struct settings *s, yaml_parser_t *p))
{
    yaml_parser_t parser;
    int ret;

    if (s->bytes == NULL || !yaml_parser_initialize(&parser))
        return unreadable(s, ENOMEM, strerror(ENOMEM));
    ret = look(s, &parser);
    yaml_parser_delete(&parser);
    return ret;
}

/* Parses s->bytes, which it frees on error. */
static int parse_bytes(struct settings *s)
{
    int ret = with_parser(s, check_depth);

    if (ret == 0)
        ret = with_parser(s, parse);
    if (ret < 0)
        free(s->bytes);
    return ret;
}

int settings_open(struct settings *s, const char *file, const char *least, settings_report report_to,
                  void *context)
{
    int ret;

    *s = (struct settings){.file = file, .least = least, .report = report_to, .context = context};
    ret = read_file(s);
    if (ret == 0)
        return parse_bytes(s);
    free(s->bytes);
    return ret;
}

int settings_take(struct settings *s, const char *name, const char *text, settings_report report_to,
                  void *context)
{
    *s = (struct settings){.file = name,
                           .least = "a key",
                           .bytes = strdup(text),
                           .length = strlen(text),
                           .report = report_to,
                           .context = context};
    return parse_bytes(s);
}

void settings_close(struct settings *s)
{
    yaml_document_delete(&s->document);
    free(s->bytes);
}
