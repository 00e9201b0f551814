-- What the profiles share: one measurement, a line of results.

local M = {}

-- One line a frame size goes to the file named by SWAGG_RESULTS, or to the screen.
local results = os.getenv("SWAGG_RESULTS")

local function report(...)
    local line = string.format(...)
    local file = results and io.open(results, "a")
    if file then
        file:write(line, "\n")
        file:close()
    else
        print(line)
    end
end

local function median(samples)
    table.sort(samples)
    return samples[#samples // 2 + 1]
end

-- Pktgen counts once a second; what is in flight when sending stops arrives well before the second count after that.
local SETTLE_MS = 2500

-- Sends from port `from` for some seconds; reports packets per second sent there and received on port `to` (medians of
-- Pktgen's own rates), and all packets sent and received.
function M.run(name, size, from, to, seconds)
    local f, t = tonumber(from), tonumber(to)
    local sent, received = {}, {}

    pktgen.clr()
    pktgen.start(from)
    pktgen.delay(SETTLE_MS)
    for i = 1, seconds do
        pktgen.delay(1000)
        local rate = pktgen.portStats("all", "rate")
        sent[i], received[i] = rate[f].pkts_tx, rate[t].pkts_rx
    end
    pktgen.stop(from)
    pktgen.delay(SETTLE_MS)
    local total = pktgen.portStats("all", "port")
    report("%s %d %d %d %d %d", name, size, median(sent), median(received), total[f].opackets, total[t].ipackets)
end

return M
