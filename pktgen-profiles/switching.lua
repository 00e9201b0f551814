-- Plain L2 switching: port 0 sends to a station on port 1, at the usual frame sizes (with the 4 bytes of the FCS).
--   SWAGG_SIZES="64 1518"  other sizes
--   SWAGG_SECONDS=10       how long each
--   SWAGG_RATE=50          percent of the line rate

local measure = dofile((os.getenv("SWAGG_PROFILES") or "pktgen-profiles") .. "/measure.lua")
local sizes = os.getenv("SWAGG_SIZES") or "64 128 192 256 512 1024 1518"
local seconds = tonumber(os.getenv("SWAGG_SECONDS") or 5)

local stations = { ["0"] = "02:00:00:00:02:00", ["1"] = "02:00:00:00:02:01" }

pktgen.screen("off")
pktgen.set_mac("0", "src", stations["0"])
pktgen.set_mac("0", "dst", stations["1"])
pktgen.set_mac("1", "src", stations["1"])
pktgen.set_mac("1", "dst", stations["0"])
pktgen.set("all", "rate", tonumber(os.getenv("SWAGG_RATE") or 100))
pktgen.set("all", "count", 0)

for size in sizes:gmatch("%d+") do
    pktgen.set("all", "size", tonumber(size))
    -- A few frames the other way, so that the switch knows where the station is and does not flood.
    pktgen.set("1", "count", 32)
    pktgen.start("1")
    pktgen.delay(1000)
    measure.run("switching", tonumber(size), "0", "1", seconds)
end
pktgen.quit()
