-- Aggregation: port 0 plays a capture of all workers' packets over and over, and receives a result for each. Pktgen gets
-- the capture on its command line (-s 0:FILE); its frame size is said here only for the report.
--   SWAGG_SIZES=1518
--   SWAGG_SECONDS=10
--   SWAGG_RATE=50      percent of the line rate

local measure = dofile((os.getenv("SWAGG_PROFILES") or "pktgen-profiles") .. "/measure.lua")
local size = tonumber(os.getenv("SWAGG_SIZES") or 0)
local seconds = tonumber(os.getenv("SWAGG_SECONDS") or 5)

pktgen.screen("off")
pktgen.pcap("0", "on")
pktgen.set("0", "rate", tonumber(os.getenv("SWAGG_RATE") or 100))
pktgen.set("0", "count", 0)
measure.run("aggregation", size, "0", "0", seconds)
pktgen.quit()
