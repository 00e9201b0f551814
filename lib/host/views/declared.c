#include "views/declared.h"

#include <string.h>

const struct view views[VIEWS] = {
    [VIEW_STATUS] = {"status", VIEW_OF_ALL, true,
                     "version, process, addresses, how much there is of everything", view_status_fields,
                     .metric = "status"},
    [VIEW_PORTS] = {"ports", VIEW_OF_ALL, true, "ports, their links and traffic", view_ports_fields,
                    view_ports_row, .metric = "port", .label = {"port"}},
    [VIEW_PORT] = {"port", VIEW_OF_PORT, false, "device, link and all counters of a port", view_port_fields},
    [VIEW_JOBS] = {"jobs", VIEW_OF_ALL, true, "jobs and their states", view_jobs_fields, view_jobs_row},
    [VIEW_JOB] = {"job", VIEW_OF_JOB, false, "state and terms of a job", view_job_fields, .metric = "job",
                  .label = {"job_name", "tenant"}},
    [VIEW_MEMBERS] = {"ranks", VIEW_OF_JOB, false, "members of a job: who is missing, who is late",
                      view_ranks_fields, view_ranks_row, .metric = "rank", .label = {"rank"}},
    [VIEW_TENANTS] = {"tenants", VIEW_OF_ALL, true, "what each tenant has of the switch, and its quotas",
                      view_tenants_fields, view_tenants_row, .metric = "tenant", .label = {"tenant"}},
    [VIEW_RESERVED] = {"reserved", VIEW_OF_ALL, true, "room that is kept for jobs which are not there yet",
                       view_reserved_fields, view_reserved_row, .metric = "reserved",
                       .label = {"reservation", "jobs", "tenant"}},
    [VIEW_UPLINKS] = {"uplinks", VIEW_OF_ALL, true, "switches above this one, and what goes to them",
                      view_uplinks_fields, view_uplinks_row, .metric = "uplink", .label = {"parent"}},
    [VIEW_PEERS] = {"peers", VIEW_OF_ALL, true, "switches of its tree, and where they tell about themselves",
                    view_peers_fields, view_peers_row},
    [VIEW_SLOTS] = {"slots", VIEW_OF_JOB, false, "slots of a job that wait for contributions",
                    view_slots_fields, view_slots_row},
    [VIEW_SUMS] = {"sums", VIEW_OF_JOB, false, "sums of a job of passing frames, the latest chunks",
                   view_sums_fields, view_sums_row},
    [VIEW_FDB] = {"fdb", VIEW_OF_ALL, true, "stations, the ports they were heard on, and how long ago",
                  view_fdb_fields, view_fdb_row},
    [VIEW_DROPS] = {"drops", VIEW_OF_PORT, true, "dropped frames by reason, of all ports or one",
                    view_drops_fields, .metric = "dropped", .counted = "reason"},
    [VIEW_COUNTERS] = {"counters", VIEW_OF_ALL, true, "what was done with the other frames",
                       view_counters_fields, .metric = "done", .counted = "what"},
    [VIEW_VERDICTS] = {"verdicts", VIEW_OF_ALL, true, "what became of gradient packets", view_verdicts_fields,
                       view_verdicts_row, .metric = "gradient", .label = {"protocol", "verdict"},
                       .counted = "verdict"},
    [VIEW_LCORES] = {"lcores", VIEW_OF_ALL, true, "polling threads, their tasks and work", view_lcores_fields,
                     view_lcores_row, .metric = "lcore", .label = {"lcore"}, .counted = "what"},
    [VIEW_LCORE] = {"lcore", VIEW_OF_LCORE, false, "tasks and all counters of a polling thread",
                    view_lcore_fields},
    [VIEW_MEMORY] = {"memory", VIEW_OF_ALL, true, "memory, packet buffers, frames that jobs keep",
                     view_memory_fields, .metric = "memory"},
    [VIEW_HISTORY] = {"history", VIEW_OF_JOB, true, "the last day by minutes: goodput, losses, who was late",
                      view_history_fields, view_history_row},
    [VIEW_EVENTS] = {"events", VIEW_OF_JOB, true,
                     "jobs that began, ended, failed; who was refused; what operators did",
                     view_events_fields, view_events_row},
};

const struct view *views_find(const char *name)
{
    for (unsigned i = 0; i < VIEWS; i++)
        if (strcmp(views[i].name, name) == 0)
            return &views[i];
    return NULL;
}
