-- Wireshark's dissector of what swagg sends and receives (docs/protocol.md): SwitchML's packets as published and swagg's own, THC's in them,
-- path probes, control messages, ATP, host-addressed aggregation with the sums of passing frames, and what SwitchML's RDMA clients
-- put into RoCE v2. A copy in one of Wireshark's folders for Lua plugins is enough (tshark -G folders), or: wireshark -X lua_script:swagg.lua
--
-- A layout is a table of rows: offset, bytes, name, title, kind, names of values (or "little" for its byte order), mask. tests/operate/dissector
-- has the core build packets whose fields are known, and compares.

local kinds = {
    [1] = "DATA", [2] = "OPEN", [3] = "PROBE", [4] = "NACK", [5] = "WAIT", [6] = "MISMATCH", [7] = "REJECT", [8] = "RESTORE",
    [9] = "path question", [10] = "path answer", [11] = "ASK", [12] = "LATE",
}
local sizes = { [0] = "32 elements", "64 elements", "128 elements", "256 elements", "as agreed", "as agreed, keyed" }
local types = {
    "int32", "int64", "float32", "float64", "int8", "int16", "uint8", "uint16", "uint32", "uint64", "bool", "float16", "bfloat16",
    "complex64", "complex128",
}
local ops = {
    [0] = "look up", "sum", "prod", "min", "max", "land", "lor", "lxor", "band", "bor", "bxor", "avg", "minloc", "maxloc", "minpair", "maxpair",
}
local collectives = {
    "allreduce", "reduce", "norms", "broadcast", "allgather", "reduce_scatter", "barrier", "gather", "scatter",
}
local messages = {
    [1] = "JOIN", [2] = "HEARTBEAT", [3] = "LEAVE", [4] = "ABORT", [16] = "PENDING", [17] = "READY", [18] = "REFUSED", [19] = "ALIVE",
    [20] = "LEFT", [21] = "ABORTED", [22] = "UNKNOWN",
}
local reasons = {
    [0] = "ok", "bad version", "bad argument", "terms differ", "rank taken", "no slots", "no jobs", "rank lost", "mismatch", "deadline",
    "cannot resume", "application", "rank left", "not admitted", "bad key", "ended by the operator",
    "moved back", "left while resuming",
}
local protocols = { [1] = "SwitchML", [4] = "ATP" }
local formats = { [0] = "int32", "typed", "fp16" }
local modes = { [0] = "on arrival", "ordered" }
local trailers = { [0] = "none", "CRC32C", "authenticator" }
local atp_kinds = { "GRADIENT", "PARAMETER", "WAITING", "MISMATCH", "REJECT", "GROUP", "RESTORE", "ASK" }
local hostagg_kinds = { "GRADIENT", "ASK", "SUM", "DONE", "WAITING", "DIFFERS" }
local EVERYBODY, NOBODY = 0xffff, 0xffff

-- Lua 5.2, as in Wireshark up to 4.2, has no operators for bits: a number without its lower n bits, and these.
local function upper(value, n)
    return math.floor(value / 2 ^ n)
end

local function lower(value, n)
    return value % 2 ^ n
end

local function has_bit(value, n)
    return upper(value, n) % 2 == 1
end

-- --- layouts: fields that are declared, and shown, from one table ---

-- Makes fields of rows, and returns what shows them: function(tree, tvb), which leaves out what the packet is too short for.
local function layout(proto, prefix, rows)
    local shown = {}
    for _, row in ipairs(rows) do
        local at, bytes, name, title, kind, more, mask = table.unpack(row)
        local abbr = prefix .. "." .. name
        local strings, field = type(more) == "table" and more or nil, nil
        if kind == "hex" then
            field = ProtoField["uint" .. 8 * bytes](abbr, title, base.HEX, strings, mask)
        elseif kind == "uint" then
            field = ProtoField["uint" .. 8 * bytes](abbr, title, base.DEC, strings, mask)
        elseif kind == "int" then
            field = ProtoField["int" .. 8 * bytes](abbr, title, base.DEC)
        elseif kind == "flag" then
            field = ProtoField.bool(abbr, title, 8 * bytes, nil, mask)
        else -- bytes, stringz, ipv4
            field = ProtoField[kind](abbr, title)
        end
        table.insert(proto.swagg_fields, field)
        table.insert(shown, { at = at, bytes = bytes, field = field, little = more == "little" or nil })
    end
    return function(tree, tvb)
        for _, s in ipairs(shown) do
            if s.at + s.bytes <= tvb:len() then
                local range = tvb(s.at, s.bytes)
                if s.little then
                    tree:add_le(s.field, range)
                else
                    tree:add(s.field, range)
                end
            end
        end
    end
end

local function proto(name, title)
    local p = Proto(name, title)
    return setmetatable({ proto = p, swagg_fields = {} }, { __index = p })
end

local function done(p)
    p.proto.fields = p.swagg_fields
end

-- One that is shown by itself.
local function field(p, kind, abbr, title)
    local f = ProtoField[kind](abbr, title)
    table.insert(p.swagg_fields, f)
    return f
end

-- --- bits that stand for ranks ---

local function ranges(numbers)
    local said, i = {}, 1
    while i <= #numbers do
        local first = numbers[i]
        while numbers[i + 1] == numbers[i] + 1 do
            i = i + 1
        end
        table.insert(said, first == numbers[i] and tostring(first) or first .. "-" .. numbers[i])
        i = i + 1
    end
    return #said > 0 and table.concat(said, ", ") or "none"
end

-- Rank r is bit r % 8 of byte r / 8 ...
local function ranks_by_bytes(tvb)
    local found = {}
    for at = 0, tvb:len() - 1 do
        for b = 0, 7 do
            if has_bit(tvb(at, 1):uint(), b) then
                table.insert(found, 8 * at + b)
            end
        end
    end
    return ranges(found)
end

-- ... or bit r % 64 of word r / 64, big endian.
local function ranks_by_words(tvb)
    local found = {}
    for word = 0, upper(tvb:len(), 3) - 1 do
        for b = 0, 63 do
            if has_bit(tvb(8 * word + 7 - upper(b, 3), 1):uint(), b % 8) then
                table.insert(found, 64 * word + b)
            end
        end
    end
    return ranges(found)
end

-- --- elements ---

-- By type: bytes, and one in words.
local readers = {
    [1] = { 4, function(r) return string.format("%d", r:int()) end },
    [2] = { 8, function(r) return tostring(r:le_int64()) end },
    [3] = { 4, function(r) return string.format("%.7g", r:le_float()) end },
    [4] = { 8, function(r) return string.format("%.7g", r:le_float()) end },
    [5] = { 1, function(r) return string.format("%d", r:int()) end },
    [6] = { 2, function(r) return string.format("%d", r:le_int()) end },
    [7] = { 1, function(r) return string.format("%d", r:uint()) end },
    [8] = { 2, function(r) return string.format("%d", r:le_uint()) end },
    [9] = { 4, function(r) return string.format("%d", r:le_uint()) end },
    [10] = { 8, function(r) return tostring(r:le_uint64()) end },
    [11] = { 1, function(r) return r:uint() ~= 0 and "true" or "false" end },
}
local SHOWN = 8

-- The first of them in words; nil: of a type that is not read here.
local function first_elements(tvb, of)
    local reader = readers[of]
    if not reader then
        return nil
    end
    local said = {}
    local whole = math.floor(tvb:len() / reader[1])
    for i = 0, math.min(whole, SHOWN) - 1 do
        table.insert(said, reader[2](tvb(i * reader[1], reader[1])))
    end
    return table.concat(said, " ") .. (whole > SHOWN and " ..." or "") .. string.format(" (%d)", whole)
end

local function code_in_words(code)
    local op, of = upper(code, 4), lower(code, 4)
    if op == 0 then
        return string.format("look up, indices of %d bits, sums of %d", lower(of, 3), of > 8 and 16 or 8)
    end
    return (ops[op] or "?") .. " of " .. (types[of] or "?")
end

-- --- what SwitchML and ATP share: calls, mismatches, trailers ---

local CALL_BYTES, MISMATCH_BYTES, BOOT_ID_BYTES = 20, 60, 8
local TRAILER_BYTES = { [0] = 0, 4, 8 }

local function of_elements(p, prefix)
    return {
        elements = field(p, "bytes", prefix .. ".elements", "Elements"), first = field(p, "string", prefix .. ".first", "The first elements"),
    }
end

local function shared(p, prefix)
    local call_rows = function(at, of)
        return {
            { at + 0, 4, of .. ".number", "Number of the call", "uint" },
            { at + 4, 1, of .. ".collective", "Collective", "uint", collectives },
            { at + 5, 1, of .. ".type", "Type", "uint", types },
            { at + 6, 1, of .. ".op", "Operation", "uint", ops },
            { at + 8, 4, of .. ".root", "Root", "uint" },
            { at + 12, 2, of .. ".part", "Part of a call (hash)", "hex" },
        }
    end
    local s = of_elements(p, prefix)
    s.call = layout(p, prefix, call_rows(0, "call"))
    s.count = field(p, "uint64", prefix .. ".call.count", "Elements")
    s.mismatch = layout(p, prefix, {
        { 0, 2, "mismatch.your_rank", "Your rank", "uint" },
        { 2, 2, "mismatch.peer_rank", "The peer's rank", "uint" },
        { 4, 4, "mismatch.your_tag", "Your tag", "uint" },
        { 8, 4, "mismatch.peer_tag", "The peer's tag", "uint" },
        { 12, 1, "mismatch.your_code", "Your operation and type", "hex" },
        { 13, 1, "mismatch.peer_code", "The peer's operation and type", "hex" },
        { 16, 2, "mismatch.your_bytes", "Your body's length", "uint" },
        { 18, 2, "mismatch.peer_bytes", "The peer's body's length", "uint" },
    })
    s.yours = layout(p, prefix, call_rows(20, "mismatch.yours"))
    s.peers = layout(p, prefix, call_rows(40, "mismatch.peers"))
    s.ranks = field(p, "string", prefix .. ".ranks", "Ranks that are there")
    s.boot_id = field(p, "bytes", prefix .. ".boot_id", "Boot id")
    s.trailer = field(p, "bytes", prefix .. ".trailer", "Trailer")
    return s
end

local function show_call(s, tree, tvb)
    local sub = tree:add(tvb(0, CALL_BYTES), "Call")
    s.call(sub, tvb)
    sub:add(s.count, tvb(14, 6), UInt64(tvb(16, 4):uint(), tvb(14, 2):uint()))
    local collective = tvb(4, 1):uint()
    return string.format(" %s %d", collectives[collective] or "unknown collective", tvb(0, 4):uint())
end

local function show_mismatch(s, tree, tvb)
    s.mismatch(tree, tvb)
    s.yours(tree:add(tvb(20, CALL_BYTES), "Your call"), tvb)
    s.peers(tree:add(tvb(40, CALL_BYTES), "The peer's call"), tvb)
    return string.format(" you are rank %d, the peer is rank %d", tvb(0, 2):uint(), tvb(2, 2):uint())
end

local function show_elements(s, tree, tvb, type)
    if tvb:len() == 0 then
        return " no elements"
    end
    tree:add(s.elements, tvb())
    local first = type and first_elements(tvb, type)
    if first then
        tree:add(s.first, tvb(), first)
    end
    return string.format(" %d bytes", tvb:len())
end

-- --- SwitchML's packets ---

local sml = proto("swagg", "swagg, SwitchML's packets")
local sml_head = layout(sml, "swagg", {
    { 0, 1, "kind", "Kind", "uint", kinds, 0xf0 },
    { 0, 1, "checksum", "CRC32C", "flag", nil, 0x08 },
    { 0, 1, "size", "Size", "uint", sizes, 0x07 },
    { 1, 1, "job", "Job", "uint" },
    { 2, 4, "tag", "Tag", "uint", "little" },
    { 6, 2, "version", "Version", "uint", nil, 0x8000 },
    { 6, 2, "slot", "Slot", "uint", nil, 0x3fff },
})
local sml_typed = layout(sml, "swagg", {
    { 8, 1, "code", "Operation and type", "hex" },
    { 8, 1, "op", "Operation", "uint", ops, 0xf0 },
    { 8, 1, "type", "Type", "uint", types, 0x0f },
    { 9, 1, "want", "The sum is wanted", "flag", nil, 0x01 },
    { 9, 1, "opening", "With a call, or of sums", "flag", nil, 0x02 },
    { 9, 1, "held", "Results held (64ths of the slots)", "uint", nil, 0xfc },
})
local sml_exponents = layout(sml, "swagg", {
    { 8, 1, "e0", "Exponent 0", "int" },
    { 9, 1, "e1", "Exponent 1", "int" },
})
local sml_probe = layout(sml, "swagg", { { 10, 1, "ports", "Data ports", "uint" } })
local sml_late = layout(sml, "swagg", { { 10, 4, "expected", "The tag that its slot collects", "uint" } })
local sml_shared = shared(sml, "swagg")
local sml_words = field(sml, "string", "swagg.code_in_words", "Operation and type")
done(sml)

sml.proto.prefs.format = Pref.enum("Format of jobs whose READY was not captured", 0,
    "Bytes 8 and 9 are operation and flags, or exponents", {
        { 1, "by the size code: 0 to 3 is published", 0 }, { 2, "typed", 1 }, { 3, "int32 with exponents", 2 }, { 4, "fp16 with exponents", 3 },
    }, false)

-- What READY has told: by switch and job number, a list of frame and format. Packets are seen in order first, and in any order later.
local granted = {}
function sml.proto.init()
    granted = {}
end

local function grant(switch, job, frame, format)
    local key = switch .. "/" .. job
    granted[key] = granted[key] or {}
    local list = granted[key]
    if #list == 0 or list[#list].frame < frame then
        table.insert(list, { frame = frame, format = format })
    end
end

-- "typed", "int32" or "fp16"
local function format_of(pinfo, job, size)
    for _, switch in ipairs({ tostring(pinfo.src), tostring(pinfo.dst) }) do
        local found
        for _, g in ipairs(granted[switch .. "/" .. job] or {}) do
            if g.frame <= pinfo.number then
                found = g.format
            end
        end
        if found then
            return found
        end
    end
    local wish = sml.proto.prefs.format
    if wish == 0 then
        return size < 4 and "int32" or "typed"
    end
    return ({ "typed", "int32", "fp16" })[wish]
end

-- Bodies by kind: function(tree, body, typed, from the first byte's flags), which returns what the line says of it.
local function sml_sum(tree, body, code, kind, opening)
    local said = ""
    if (kind == 2 or (kind == 8 and opening)) and body:len() >= CALL_BYTES then
        said = show_call(sml_shared, tree, body)
        body = body:len() > CALL_BYTES and body(CALL_BYTES):tvb() or nil
    end
    if not body then
        return said .. " no elements"
    end
    return said .. show_elements(sml_shared, tree, body, code and upper(code, 4) ~= 0 and lower(code, 4) or nil)
end

local function sml_body(tree, tvb, body, kind, code, opening)
    if kind == 1 or kind == 2 or kind == 8 then
        return sml_sum(tree, body, code, kind, opening)
    elseif kind == 5 or kind == 11 then
        tree:add(sml_shared.ranks, body(), ranks_by_bytes(body))
        return " there: " .. ranks_by_bytes(body)
    elseif kind == 6 and body:len() >= MISMATCH_BYTES then
        return show_mismatch(sml_shared, tree, body)
    elseif kind == 7 and body:len() >= BOOT_ID_BYTES then
        tree:add(sml_shared.boot_id, body(0, BOOT_ID_BYTES))
    elseif kind == 12 then
        sml_late(tree, tvb)
    end
    return ""
end

local SML_HEAD = 10

local function path_probe(tvb, pinfo, tree, kind)
    tree:append_text(", " .. kinds[kind])
    if kind == 10 then
        sml_probe(tree, tvb)
    end
    pinfo.cols.info:set(string.format("%s of %d bytes", kinds[kind], tvb:len()))
end

local function exponents_in_words(tvb)
    return string.format(" exponents %d %d", tvb(8, 1):int(), tvb(9, 1):int())
end

function sml.proto.dissector(tvb, pinfo, root)
    if tvb:len() < SML_HEAD then
        return 0
    end
    local first = tvb(0, 1):uint()
    local kind, size, job = upper(first, 4), lower(first, 3), tvb(1, 1):uint()
    local tree = root:add(sml.proto, tvb(), "swagg")
    pinfo.cols.protocol:set("swagg")
    sml_head(tree, tvb)
    if kind == 9 or kind == 10 then
        path_probe(tvb, pinfo, tree, kind)
        return tvb:len()
    end
    local trailer = size == 5 and 8 or has_bit(first, 3) and 4 or 0
    if not kinds[kind] or size > 5 or tvb:len() < SML_HEAD + trailer then
        pinfo.cols.info:set("malformed")
        tree:add_expert_info(PI_MALFORMED, PI_ERROR, "no packet of SwitchML's")
        return tvb:len()
    end
    local format = format_of(pinfo, job, size)
    local code = format == "typed" and tvb(8, 1):uint() or nil
    local said = string.format("%s job %d tag %d slot %d.%d", kinds[kind], job, tvb(2, 4):le_uint(), lower(tvb(6, 2):uint(), 14),
        upper(tvb(6, 2):uint(), 15))
    if code then
        sml_typed(tree, tvb)
        tree:add(sml_words, tvb(8, 1), code_in_words(code))
    else
        sml_exponents(tree, tvb)
    end
    local length = tvb:len() - SML_HEAD - trailer
    if length > 0 then
        local of = code or (format == "int32" and 0x11 or nil)
        said = said .. sml_body(tree, tvb, tvb(SML_HEAD, length):tvb(), kind, of, code ~= nil and has_bit(tvb(9, 1):uint(), 1))
    elseif kind <= 2 then
        said = said .. " no elements"
    end
    if trailer > 0 then
        tree:add(sml_shared.trailer, tvb(tvb:len() - trailer, trailer))
    end
    if kind <= 2 or kind == 8 then
        said = said .. (code and " " .. code_in_words(code) or exponents_in_words(tvb))
    end
    pinfo.cols.info:set(said)
    tree:append_text(", " .. said)
    return tvb:len()
end

-- --- control messages ---

local ctl = proto("swagg_control", "swagg, control messages")
local ctl_head = layout(ctl, "swagg_control", {
    { 4, 1, "version", "Version", "uint" },
    { 5, 1, "type", "Type", "uint", messages },
    { 6, 1, "sealed", "Sealed", "flag", nil, 0x01 },
    { 8, 8, "boot_id", "Boot id", "hex" },
    { 16, 8, "incarnation", "Incarnation", "hex" },
    { 24, 4, "epoch", "Epoch", "uint" },
    { 28, 2, "rank", "Rank", "uint" },
    { 30, 2, "size", "Size of the job", "uint" },
    { 32, 4, "serial", "Serial", "uint" },
})
local CTL_HEAD, SEAL = 40, 32

local function terms_rows(at)
    return {
        { at, 1, "terms.protocol", "Protocol", "uint", protocols },
        { at + 1, 1, "terms.version", "Version of the terms", "uint" },
        { at + 2, 1, "terms.length", "Length of the terms", "uint" },
    }
end
local join = layout(ctl, "swagg_control.join", {
    { 0, 48, "name", "Job", "stringz" },
    { 48, 2, "data_port", "Data port", "uint" },
    { 50, 1, "resume", "Resumes", "flag", nil, 0x01 },
    { 51, 1, "waited", "Waited", "flag", nil, 0x01 },
    { 52, 1, "job", "Job number that it had", "uint" },
    { 53, 1, "root_here", "This switch is the root", "flag", nil, 0x01 },
    { 56, 8, "roster", "Roster", "hex" },
    { 132, 1, "levels", "Switches above", "uint" },
    { 140, 1, "hops", "Passed up", "uint" },
    { 141, 3, "queue_pair", "Queue pair of the NIC", "uint" },
    { 144, 4, "host", "Host of the rank", "ipv4" },
    { 148, 4, "via", "Switch of the rank", "ipv4" },
    { 152, 8, "ticket", "Ticket", "hex" },
})
local ready = layout(ctl, "swagg_control.ready", {
    { 0, 1, "job", "Job number", "uint" },
    { 1, 1, "resumed", "Resumed", "flag", nil, 0x01 },
    { 2, 2, "data_port", "Data port", "uint" },
    { 4, 1, "data_ports", "Data ports", "uint" },
    { 5, 1, "nic", "Heard by the NIC", "flag", nil, 0x01 },
    { 5, 1, "nic_messages", "... by messages of several packets, too", "flag", nil, 0x02 },
    { 8, 4, "lost_after_ms", "Lost after, ms", "uint" },
    { 16, 8, "roster", "Roster", "hex" },
})
local ready_ranks = field(ctl, "string", "swagg_control.ready.ranks", "One sum for ranks")
local pending = layout(ctl, "swagg_control.pending", {
    { 0, 4, "waited_ms", "The job has waited, ms", "uint" },
    { 4, 1, "occupied", "An earlier job, or somebody else, is in the way", "flag", nil, 0x01 },
    { 5, 1, "no_room", "No room yet", "flag", nil, 0x01 },
    { 6, 1, "preparing", "The switch is preparing", "flag", nil, 0x01 },
})
local pending_ranks = field(ctl, "string", "swagg_control.pending.missing", "Ranks that are missing, or in the way")
local heartbeat = layout(ctl, "swagg_control.heartbeat", {
    { 0, 4, "calls", "Calls completed", "uint" },
    { 4, 1, "waiting", "Waiting", "flag", nil, 0x01 },
    { 8, 4, "stalled_ms", "Without progress, ms", "uint" },
    { 12, 4, "progress", "Progress", "uint" },
    { 16, 4, "window", "Window", "uint" },
    { 20, 4, "resumed", "Restarts of the switch", "uint" },
    { 24, 8, "retransmitted", "Retransmitted", "uint" },
    { 32, 4, "finished", "Calls finished at all switches", "uint" },
})
local alive = layout(ctl, "swagg_control.alive", {
    { 0, 2, "behind", "Ranks that have finished fewer", "uint" },
})
local failure = layout(ctl, "swagg_control.failure", {
    { 0, 2, "reason", "Reason", "uint", reasons },
    { 2, 2, "rank", "Rank", "uint" },
    { 4, 200, "text", "In words", "stringz" },
})
local seal = layout(ctl, "swagg_control.seal", {
    { 0, 8, "key", "Key", "hex" },
    { 8, 8, "challenge", "Challenge", "hex" },
    { 16, 16, "tag", "Tag", "bytes" },
})
local terms = layout(ctl, "swagg_control", terms_rows(0))
local TERMS_DATA = 4
local switchml_terms = layout(ctl, "swagg_control.terms", {
    { 0, 1, "format", "Format", "uint", formats },
    { 1, 1, "mode", "Mode", "uint", modes },
    { 2, 1, "checksum", "Checksum", "uint", trailers },
    { 3, 1, "resumed", "Resumed", "uint" },
    { 4, 2, "slots", "Slots", "uint" },
    { 6, 2, "chunk_bytes", "Bytes of a chunk", "uint" },
    { 8, 4, "first_tag", "First tag", "uint" },
    { 13, 1, "plain", "Published sizes only", "uint" },
    { 16, 1, "keyed", "Keyed", "uint" },
    { 17, 1, "table_code", "Code of compressed calls (THC)", "uint" },
    { 18, 16, "table", "Table of compressed calls (THC)", "bytes" },
    { 38, 2, "quorum", "Quorum", "uint" },
    { 40, 2, "quorum_wait_ms", "Wait beyond the quorum, ms", "uint" },
    { 42, 1, "empties", "Contributions without elements", "uint" },
    { 43, 1, "place", "Place among switches", "uint" },
    { 44, 1, "places", "Switches", "uint" },
    { 49, 1, "local", "Memory shared by ranks", "uint" },
    { 50, 1, "lanes", "Threads of a rank", "uint" },
    { 51, 1, "rated", "Shares by measure", "uint" },
})
local atp_terms = layout(ctl, "swagg_control.atp_terms", {
    { 0, 1, "mode", "Mode", "uint", modes },
    { 1, 1, "format", "Format", "uint", { [0] = "typed", "int32", "fp16" } },
    { 3, 1, "priority", "Priority", "uint" },
    { 4, 2, "window", "Window", "uint" },
    { 6, 2, "chunk_bytes", "Bytes of a chunk", "uint" },
    { 8, 1, "per_rack", "Ranks in a rack", "uint" },
    { 10, 1, "server", "Place among servers", "uint" },
    { 11, 1, "servers", "Servers", "uint" },
    { 12, 4, "life", "Life", "hex" },
    { 16, 4, "first_sequence", "First sequence", "uint" },
    { 20, 4, "group", "IPv4 group", "ipv4" },
    { 24, 2, "group_port", "UDP port of the group", "uint" },
})
done(ctl)

-- Returns the format of SwitchML's terms.
local function show_terms(tree, tvb)
    local sub = tree:add(tvb(), "Terms")
    local protocol, length = tvb(0, 1):uint(), tvb(2, 1):uint()
    terms(sub, tvb)
    if length == 0 or TERMS_DATA + length > tvb:len() then
        return nil
    end
    local data = tvb(TERMS_DATA, length):tvb()
    if protocol == 1 then
        switchml_terms(sub, data)
        return formats[data(0, 1):uint()]
    elseif protocol == 4 then
        atp_terms(sub, data)
    end
    return nil
end

local TERMS_BYTES, JOIN_TERMS, READY_TERMS, READY_PLAIN, READY_SEALED = 68, 64, 24, 92, 124

local function show_join(tree, body)
    join(tree, body)
    if body:len() >= JOIN_TERMS + TERMS_BYTES then
        show_terms(tree, body(JOIN_TERMS, TERMS_BYTES):tvb())
    end
    return string.format(' "%s"', body(0, 48):stringz())
end

local function show_ready(tree, body, pinfo, sealed)
    ready(tree, body)
    if body:len() < READY_PLAIN then
        return ""
    end
    local job = body(0, 1):uint()
    local format = show_terms(tree, body(READY_TERMS, TERMS_BYTES):tvb())
    if format and not pinfo.visited then
        grant(tostring(pinfo.src), job, pinfo.number, format)
    end
    local tail = sealed and READY_SEALED or READY_PLAIN
    if body:len() >= tail + 16 then
        local words = body(tail + 8, 1):uint()
        if words > 0 and body:len() >= tail + 16 + 8 * words then
            local range = body(tail + 16, 8 * words)
            tree:add(ready_ranks, range, ranks_by_words(range:tvb()))
        end
    end
    return string.format(" job %d", job)
end

local function show_failure(tree, body)
    if body:len() < 204 then
        return ""
    end
    failure(tree, body)
    local rank = body(2, 2):uint()
    return string.format(" %s%s: %s", reasons[body(0, 2):uint()] or "?", rank ~= NOBODY and ", rank " .. rank or "", body(4, 200):stringz())
end

local function show_pending(tree, body)
    pending(tree, body)
    if body:len() < 8 then
        return ""
    end
    local words = body(7, 1):uint()
    words = words == 0 and 4 or words
    if body:len() < 8 + 8 * words then
        return ""
    end
    local range = body(8, 8 * words)
    tree:add(pending_ranks, range, ranks_by_words(range:tvb()))
    local behind = 8 + 8 * words
    if body:len() >= behind + 204 then
        show_failure(tree:add(body(behind), "Turned away"), body(behind):tvb())
    end
    return " missing " .. ranks_by_words(range:tvb())
end

local function show_heartbeat(tree, body)
    heartbeat(tree, body)
    return string.format(" %d calls done", body(0, 4):uint())
end

local function show_alive(tree, body)
    alive(tree, body)
    return string.format(" %d behind", body(0, 2):uint())
end

local bodies = {
    [1] = show_join, [2] = show_heartbeat, [3] = show_heartbeat, [4] = show_failure, [16] = show_pending, [17] = show_ready,
    [18] = show_failure, [19] = show_alive, [21] = show_failure,
}

function ctl.proto.dissector(tvb, pinfo, root)
    if tvb:len() < CTL_HEAD or tvb(0, 4):string() ~= "SWAG" then
        return 0
    end
    local kind, sealed = tvb(5, 1):uint(), has_bit(tvb(6, 1):uint(), 0)
    local tree = root:add(ctl.proto, tvb(), "swagg control")
    pinfo.cols.protocol:set("swagg")
    ctl_head(tree, tvb)
    local said = string.format("%s rank %d of %d", messages[kind] or "?", tvb(28, 2):uint(), tvb(30, 2):uint())
    local finish = tvb:len() - (sealed and SEAL or 0)
    if bodies[kind] and finish > CTL_HEAD then
        said = said .. bodies[kind](tree, tvb(CTL_HEAD, finish - CTL_HEAD):tvb(), pinfo, sealed)
    end
    if sealed and finish >= CTL_HEAD then
        seal(tree:add(tvb(finish), "Seal"), tvb(finish):tvb())
    end
    pinfo.cols.info:set(said)
    tree:append_text(", " .. said)
    return tvb:len()
end

-- --- ATP ---

local atp = proto("swagg_atp", "swagg, ATP")
local atp_head = layout(atp, "swagg_atp", {
    { 0, 1, "kind", "Kind", "uint", atp_kinds },
    { 1, 1, "flags", "Flags", "hex" },
    { 1, 1, "resend", "RESEND (GROUP: HEARS)", "flag", nil, 0x01 },
    { 1, 1, "collision", "COLLISION", "flag", nil, 0x02 },
    { 1, 1, "ecn", "ECN", "flag", nil, 0x04 },
    { 1, 1, "edge", "EDGE", "flag", nil, 0x08 },
    { 1, 1, "opening", "OPENING", "flag", nil, 0x20 },
    { 1, 1, "scaled", "SCALED", "flag", nil, 0x40 },
    { 1, 1, "direct", "DIRECT", "flag", nil, 0x80 },
    { 2, 2, "job", "Job", "uint" },
    { 4, 4, "life", "Life", "hex" },
    { 8, 4, "sequence", "Sequence", "uint" },
    { 12, 2, "index", "Index of the aggregator", "uint" },
    { 14, 2, "root_or_next", "Root (65535: all), or next index", "uint" },
    { 16, 1, "code", "Operation and type", "hex" },
    { 17, 1, "exponent", "Exponent", "int" },
    { 18, 1, "fan_in0", "Ranks of the rack", "uint" },
    { 19, 1, "fan_in1", "Children of the server's switch", "uint" },
    { 20, 1, "rack", "Rack", "uint" },
    { 21, 1, "child", "Child", "uint" },
    { 22, 1, "priority", "Priority", "uint" },
    { 23, 1, "held", "Results held (64ths of the window)", "uint", nil, 0xfc },
    { 23, 1, "trailer_kind", "Trailer", "uint", trailers, 0x03 },
    { 24, 8, "bitmap0", "Bitmap 0", "hex" },
    { 32, 8, "bitmap1", "Bitmap 1", "hex" },
})
local atp_shared = shared(atp, "swagg_atp")
local atp_ranks0 = field(atp, "string", "swagg_atp.ranks0", "Ranks of the rack in the sum")
local atp_words = field(atp, "string", "swagg_atp.code_in_words", "Operation and type")
done(atp)
local ATP_HEAD = 40

local function atp_body(tree, body, kind, opening, code)
    if kind == 3 then
        tree:add(atp_shared.ranks, body(), ranks_by_bytes(body))
        return " there: " .. ranks_by_bytes(body)
    elseif kind == 4 and body:len() >= MISMATCH_BYTES then
        return show_mismatch(atp_shared, tree, body)
    elseif kind == 5 and body:len() >= BOOT_ID_BYTES then
        tree:add(atp_shared.boot_id, body(0, BOOT_ID_BYTES))
        return ""
    end
    local said = ""
    if opening and body:len() >= CALL_BYTES then
        said = show_call(atp_shared, tree, body)
        if body:len() == CALL_BYTES then
            return said
        end
        body = body(CALL_BYTES):tvb()
    end
    return said .. show_elements(atp_shared, tree, body, lower(code, 4))
end

function atp.proto.dissector(tvb, pinfo, root)
    if tvb:len() < ATP_HEAD or not atp_kinds[tvb(0, 1):uint()] then
        return 0
    end
    local kind, flags, code = tvb(0, 1):uint(), tvb(1, 1):uint(), tvb(16, 1):uint()
    local trailer = TRAILER_BYTES[lower(tvb(23, 1):uint(), 2)] or 0
    local tree = root:add(atp.proto, tvb(), "swagg ATP")
    pinfo.cols.protocol:set("swagg ATP")
    atp_head(tree, tvb)
    tree:add(atp_ranks0, tvb(24, 8), ranks_by_words(tvb(24, 8):tvb()))
    tree:add(atp_words, tvb(16, 1), code_in_words(code))
    local said = string.format("%s job %d chunk %d index %d", atp_kinds[kind], tvb(2, 2):uint(), tvb(8, 4):uint(), tvb(12, 2):uint())
    local length = tvb:len() - ATP_HEAD - trailer
    if length > 0 then
        said = said .. atp_body(tree, tvb(ATP_HEAD, length):tvb(), kind, has_bit(flags, 5), code)
    end
    if trailer > 0 and length >= 0 then
        tree:add(atp_shared.trailer, tvb(tvb:len() - trailer, trailer))
    end
    pinfo.cols.info:set(said)
    tree:append_text(", " .. said)
    return tvb:len()
end

-- --- host-addressed aggregation, and what a collector gets of passing frames ---

local hostagg = proto("swagg_hostagg", "swagg, host-addressed aggregation")
local hostagg_head = layout(hostagg, "swagg_hostagg", {
    { 0, 1, "kind", "Kind", "uint", hostagg_kinds },
    { 1, 1, "job", "Job", "uint" },
    { 2, 2, "worker", "Worker (65535: everybody)", "uint" },
    { 4, 4, "sequence", "Sequence", "uint" },
    { 8, 2, "run", "Run", "uint" },
})
local hostagg_differs = layout(hostagg, "swagg_hostagg", {
    { 10, 2, "other_worker", "The other worker", "uint" },
    { 12, 2, "other_bytes", "The length of its body", "uint" },
})
local hostagg_there = field(hostagg, "string", "swagg_hostagg.workers", "Workers that are there")
local hostagg_sum = of_elements(hostagg, "swagg_hostagg")
done(hostagg)
hostagg.proto.prefs.ports = Pref.range("UDP ports", "", "Of the hosts of `hostagg` and the collectors of `clone` in the switch's configuration", 65535)
hostagg.proto.prefs.type = Pref.enum("Type of their elements", 3, "As the configuration has it", { { 1, "float32", 3 }, { 2, "int32", 1 } }, false)
local HOSTAGG_HEAD = 10

function hostagg.proto.dissector(tvb, pinfo, root)
    if tvb:len() < HOSTAGG_HEAD or not hostagg_kinds[tvb(0, 1):uint()] then
        return 0
    end
    local kind, worker = tvb(0, 1):uint(), tvb(2, 2):uint()
    local tree = root:add(hostagg.proto, tvb(), "swagg host-addressed")
    pinfo.cols.protocol:set("swagg hostagg")
    hostagg_head(tree, tvb)
    local body = tvb:len() > HOSTAGG_HEAD and tvb(HOSTAGG_HEAD):tvb() or nil
    if kind == 5 and body then
        tree:add(hostagg_there, body(), ranks_by_bytes(body))
    elseif kind == 6 then
        hostagg_differs(tree, tvb)
    elseif body and (kind == 1 or kind == 3) then
        show_elements(hostagg_sum, tree, body, hostagg.proto.prefs.type)
    end
    local said = string.format("%s job %d %s chunk %d run %d", hostagg_kinds[kind], tvb(1, 1):uint(),
        worker == EVERYBODY and "everybody" or "worker " .. worker, tvb(4, 4):uint(), tvb(8, 2):uint())
    pinfo.cols.info:set(said)
    tree:append_text(", " .. said)
    return tvb:len()
end

-- --- frames that pass by, which are others': where things lie is in the switch's configuration ---

local clone = proto("swagg_clone", "swagg, passing frames")
local clone_sequence = field(clone, "uint32", "swagg_clone.sequence", "Chunk")
local clone_chunk = of_elements(clone, "swagg_clone")
done(clone)
clone.proto.prefs.ether_type = Pref.uint("EtherType", 0, "`ether_type` of the configuration; 0: such frames are not looked at")
clone.proto.prefs.sequence_at = Pref.uint("sequence_at", 14, "As in the configuration: bytes from the frame's beginning")
clone.proto.prefs.elements_at = Pref.uint("elements_at", 18, "As in the configuration: bytes from the frame's beginning")
clone.proto.prefs.little = Pref.bool("The chunk's number is little endian", false)
local ETHERNET = 14

function clone.proto.dissector(tvb, pinfo, root)
    local sequence, elements = clone.proto.prefs.sequence_at - ETHERNET, clone.proto.prefs.elements_at - ETHERNET
    if sequence < 0 or elements < 0 or tvb:len() < math.max(sequence + 4, elements + 4) then
        return 0
    end
    local tree = root:add(clone.proto, tvb(), "swagg passing frame")
    pinfo.cols.protocol:set("swagg clone")
    if clone.proto.prefs.little then
        tree:add_le(clone_sequence, tvb(sequence, 4))
    else
        tree:add(clone_sequence, tvb(sequence, 4))
    end
    show_elements(clone_chunk, tree, tvb(elements):tvb(), 1)
    pinfo.cols.info:set("gradients that pass by")
    return tvb:len()
end

-- --- RoCE v2: Wireshark knows it; what SwitchML's clients mean by it is shown beside ---

local roce = proto("swagg_roce", "swagg, SwitchML by RDMA")
local roce_number = field(roce, "uint16", "swagg_roce.message", "Message")
local roce_rest = layout(roce, "swagg_roce", {
    { 2, 1, "e0", "Exponent 0", "int" },
    { 3, 1, "e1", "Exponent 1", "int" },
})
local roce_rank = field(roce, "uint8", "swagg_roce.rank", "Rank (of what goes to the switch)")
local roce_pair = field(roce, "uint16", "swagg_roce.queue_pair", "Queue pair's index")
local roce_version = field(roce, "uint8", "swagg_roce.version", "Version of the message's slots (of what goes to the switch)")
local roce_body = of_elements(roce, "swagg_roce")
done(roce)
local pair_seen, opcode_seen = Field.new("infiniband.bth.destqp"), Field.new("infiniband.bth.opcode")
local payload_seen = Field.new("udp.payload")
local BTH, RETH, IMMEDIATE, ICRC = 12, 16, 4, 4
local opcodes = { -- begins, has an immediate
    [0x26] = { true, false }, [0x27] = { false, false }, [0x28] = { false, false }, [0x29] = { false, true }, [0x2a] = { true, false },
    [0x2b] = { true, true },
}

-- A rank's packet that its NIC carries, to the switch: as it would be by UDP.
local SEND_LAST, SENDS, CARRIES = 0x22, { [0x20] = true, [0x21] = true, [0x22] = true, [0x24] = true }, 0x40
local function carried(tvb, pair, pinfo, root)
    local length = tvb:len() - BTH - ICRC - tvb(1, 1):bitfield(2, 2)
    if tvb(0, 1):uint() < SEND_LAST and length > 0 then -- the last byte says how much fills it up
        length = length - tvb(BTH + length - 1, 1):uint()
    end
    if upper(pair, 16) == CARRIES and length > 0 then
        sml.proto.dissector(tvb(BTH, length):tvb(), pinfo, root)
    end
end

-- Behind Wireshark's own dissector, which has BTH, RETH and immediate as fields.
function roce.proto.dissector(_, pinfo, root)
    local opcode, pair, whole = opcode_seen(), pair_seen(), payload_seen()
    local what = opcode and opcodes[opcode.value]
    if opcode and SENDS[opcode.value] and pair and whole then
        carried(whole.range:tvb(), pair.value, pinfo, root)
        return
    end
    if not what or not pair or not whole then
        return
    end
    local tvb = whole.range:tvb()
    local at = BTH
    local tree = root:add(roce.proto, tvb(), "swagg, SwitchML by RDMA")
    local to_switch = has_bit(pair.value, 23)
    if to_switch then
        tree:add(roce_rank, tvb(5, 3), lower(upper(pair.value, 16), 7))
        tree:add(roce_pair, tvb(5, 3), lower(pair.value, 16))
    end
    if what[1] then
        if to_switch and tvb:len() >= at + RETH then
            tree:add(roce_version, tvb(at + 8, 4), lower(tvb(at + 8, 4):uint(), 1))
        end
        at = at + RETH
    end
    if what[2] and tvb:len() >= at + IMMEDIATE then
        tree:add_le(roce_number, tvb(at, 2))
        roce_rest(tree, tvb(at, IMMEDIATE):tvb())
        at = at + IMMEDIATE
    end
    if tvb:len() > at + ICRC then
        show_elements(roce_body, tree, tvb(at, tvb:len() - at - ICRC):tvb(), 1)
    end
end
register_postdissector(roce.proto)

-- --- where they are ---

local udp = DissectorTable.get("udp.port")
local function at_ports(p, first, last)
    for port = first, last do
        udp:add(port, p.proto)
    end
end
at_ports(sml, 0xbee0, 0xbeef) -- data of a switch, ...
at_ports(sml, 0xbef0, 0xbef3) -- ... and of those to whom it is a worker
at_ports(ctl, 0xbede, 0xbedf)
at_ports(atp, 0xbec0, 0xbed0)

-- In the dissector table's places that a preference says; `none`: nowhere.
local function follow(places, p, pref, none)
    local before = none
    local function listen()
        local now = p.proto.prefs[pref]
        if now == before then
            return
        end
        if before ~= none then
            places:remove(before, p.proto)
        end
        if now ~= none then
            places:add(now, p.proto)
        end
        before = now
    end
    p.proto.prefs_changed = listen
    listen()
end
follow(udp, hostagg, "ports", "")
follow(DissectorTable.get("ethertype"), clone, "ether_type", 0)
