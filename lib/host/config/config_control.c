/* The socket for operators. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config_check.h"

enum { MODE = 0660, MODE_MAX = 0777 };

/* Octal, as chmod takes it. */
static void check_mode(struct config_text *t, const char *text, uint32_t *mode)
{
    char *end;
    const unsigned long value = strtoul(text, &end, 8);

    if (strspn(text, "01234567") != strlen(text) || *end != '\0' || value > MODE_MAX)
        config_fault(t, "control.mode", "\"%s\" is no mode of a file: three octal digits, such as \"660\"",
                     text);
    *mode = (uint32_t)value;
}

void config_check_control(struct config_text *t, struct config_raw *raw)
{
    struct config_control *c = &raw->config.control;

    *c = (struct config_control){.mode = MODE};
    c->off = strcmp(raw->control.path, CONFIG_CONTROL_NONE) == 0;
    if (config_text_has(t, "control.path") && !c->off) {
        if (raw->control.path[0] != '/')
            config_fault(t, "control.path", "\"%s\" is neither an absolute path, nor " CONFIG_CONTROL_NONE,
                         raw->control.path);
        memcpy(c->path, raw->control.path, sizeof(c->path));
    }
    if (config_text_has(t, "control.mode"))
        check_mode(t, raw->control.mode, &c->mode);
    memcpy(c->group, raw->control.group, sizeof(c->group));
}
