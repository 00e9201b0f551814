# DeepLight, as SwitchML's paper (NSDI 2021, extended version, table 1) trained it: PyTorch, Criteo 1TB, batches of
# 8192, NVIDIA P100.
#
# Bytes: only the paper's total is known, 2319 MiB. Nearly all are embeddings: 26 fields of categories with a table
# each, taken to be alike; the rest is a network of 390, 400, 400, 400 and 1 as published.
#
# Times: All that passes before the first gradient is sent counts as forward: at 10 Gb/s the 3% of 2101 ms in which
# nothing is sent. 2% of the other 97% overlap with computing, which is the backward pass here, divided evenly.

model DeepLight

#     name                bytes  forward ms  backward ms
layer field0             93451436      2.334      1.510
layer field1             93451436      2.334      1.510
layer field2             93451436      2.334      1.510
layer field3             93451436      2.334      1.510
layer field4             93451436      2.334      1.510
layer field5             93451436      2.334      1.510
layer field6             93451436      2.334      1.510
layer field7             93451436      2.334      1.510
layer field8             93451436      2.334      1.510
layer field9             93451436      2.334      1.510
layer field10            93451436      2.334      1.510
layer field11            93451436      2.334      1.510
layer field12            93451436      2.334      1.510
layer field13            93451436      2.334      1.510
layer field14            93451436      2.334      1.510
layer field15            93451436      2.334      1.510
layer field16            93451436      2.334      1.510
layer field17            93451436      2.334      1.510
layer field18            93451436      2.334      1.510
layer field19            93451436      2.334      1.510
layer field20            93451436      2.334      1.510
layer field21            93451436      2.334      1.510
layer field22            93451436      2.334      1.510
layer field23            93451436      2.334      1.510
layer field24            93451436      2.334      1.510
layer field25            93451436      2.334      1.510
layer dnn                 1910404      2.334      1.510
