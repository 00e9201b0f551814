#include "capture/capture.h"

#include <string.h>

#include <pcap/pcap.h>

#include "command_line.h"

static int read_frames(const char *file, pcap_t *pcap, capture_visitor *visit, void *context)
{
    struct pcap_pkthdr *header;
    const u_char *bytes;
    uint64_t number = 0;
    int ret;

    while ((ret = pcap_next_ex(pcap, &header, &bytes)) == 1) {
        const struct capture_frame frame = {
            .number = ++number,
            .ns = (uint64_t)header->ts.tv_sec * 1000000000 + (uint64_t)header->ts.tv_usec,
            .bytes = bytes,
            .length = header->caplen,
            .cut = header->caplen < header->len,
        };

        if (!visit(context, &frame))
            return 0;
    }
    if (ret == PCAP_ERROR_BREAK)
        return 0;
    complain("%s: %s", file, pcap_geterr(pcap));
    return -1;
}

int capture_read(const char *file, capture_visitor *visit, void *context)
{
    char error[PCAP_ERRBUF_SIZE];
    pcap_t *pcap = pcap_open_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, error);
    int ret = -1;

    if (pcap == NULL) {
        const bool names_it = strncmp(error, file, strlen(file)) == 0; /* as where there is no such file */

        complain("%s%s%s", names_it ? "" : file, names_it ? "" : ": ", error);
        return -1;
    }
    if (pcap_datalink(pcap) != DLT_EN10MB)
        complain("%s: not a capture of Ethernet frames", file);
    else
        ret = read_frames(file, pcap, visit, context);
    pcap_close(pcap);
    return ret;
}
