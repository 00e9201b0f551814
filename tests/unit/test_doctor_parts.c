/* Rules of packet filters, as nft and iptables-save list them; names of topics. */

#include "findings.h"
#include "firewall.h"
#include "unit.h"

TEST(rules_that_drop_our_packets_are_known)
{
    static const struct {
        const char *line;
        enum firewall_line is;
    } lines[] = {
        {"\t\tudp dport 48863 drop", FIREWALL_DROPS},
        {"udp sport { 53, 48870-48872 } counter packets 3 bytes 84 drop", FIREWALL_DROPS},
        {"udp dport 1024-65535 reject with icmp port-unreachable", FIREWALL_DROPS},
        {"udp dport { 53, 123 } drop", FIREWALL_NOTHING},
        {"udp dport 48880 drop", FIREWALL_NOTHING},
        {"tcp dport 48863 drop", FIREWALL_NOTHING},
        {"meta l4proto udp drop", FIREWALL_DROPS},
        {"ip saddr 10.9.9.9 drop", FIREWALL_NOTHING},
        {"-A INPUT -p udp -m udp --dport 48863:48879 -j DROP", FIREWALL_DROPS},
        {"-A INPUT -p udp -m multiport --dports 53,48864 -j REJECT", FIREWALL_DROPS},
        {"-A INPUT -p udp -m udp --dport 53 -j DROP", FIREWALL_NOTHING},
        {"udp sport 48863-48879 accept", FIREWALL_ACCEPTS},
        {"ct state established,related accept", FIREWALL_ACCEPTS},
        {"-A INPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT", FIREWALL_ACCEPTS},
        {"tcp dport 22 accept", FIREWALL_NOTHING},
        {"type filter hook input priority filter; policy drop;", FIREWALL_DROPS_THE_REST},
        {"type filter hook forward priority filter; policy drop;", FIREWALL_NOTHING},
        {"type filter hook input priority filter; policy accept;", FIREWALL_NOTHING},
        {":INPUT DROP [0:0]", FIREWALL_DROPS_THE_REST},
        {":FORWARD DROP [0:0]", FIREWALL_NOTHING},
        {"", FIREWALL_NOTHING},
    };

    for (unsigned i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        CU_ASSERT_EQUAL(firewall_line(lines[i].line), lines[i].is);
}

TEST(topics_are_names_between_commas)
{
    const struct findings some = {.only = "mtu,losses"}, all = {0};

    CU_ASSERT_TRUE(topics_are_known("mtu,losses"));
    CU_ASSERT_FALSE(topics_are_known("mtu,loss"));
    CU_ASSERT_FALSE(topics_are_known("mtu,"));
    CU_ASSERT_TRUE(findings_want(&some, "losses"));
    CU_ASSERT_FALSE(findings_want(&some, "loss"));
    CU_ASSERT_FALSE(findings_want(&some, "rate"));
    CU_ASSERT_TRUE(findings_want(&all, "rate"));
}
