"""The counters of the program, by their numbers in reasons.p4. Those that the daemon has too have its names."""

NAMES = ("passed", "send_all", "send_one", "held", "drop_duplicate", "drop_stale", "drop_bad_slot", "drop_bad_length",
         "sml_bad_length", "sml_bad_slot", "sml_unknown_job", "sml_foreign_sender", "ip_checksum", "link_local", "same_port")
NUMBERS = {name: number for number, name in enumerate(NAMES)}
