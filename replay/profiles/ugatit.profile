# U-GAT-IT, as SwitchML's paper (NSDI 2021, extended version, table 1) trained it: TensorFlow, Selfie2Anime, batches
# of 2, NVIDIA P100.
#
# Bytes: only the paper's total is known, 511 MiB: 20 equal parts.
#
# Times: a batch of the paper's at 100 Gb/s, 1212 ms, of which 99% of communication overlaps with computing, is its
# computing. All that passes before the first gradient is sent counts as forward: at 10 Gb/s the 72% of 1612 ms in
# which nothing is sent. Both are divided evenly. The paper says that 84% of communication overlaps at 10 Gb/s, which
# these times do not have: 1212 ms of computing leave room for 11%.
#
# Bucket: Horovod's usual one.

model UGATIT
bucket 64M

#     name                bytes  forward ms  backward ms
layer part0              26791116     58.032      2.568
layer part1              26791116     58.032      2.568
layer part2              26791116     58.032      2.568
layer part3              26791116     58.032      2.568
layer part4              26791116     58.032      2.568
layer part5              26791116     58.032      2.568
layer part6              26791116     58.032      2.568
layer part7              26791116     58.032      2.568
layer part8              26791116     58.032      2.568
layer part9              26791116     58.032      2.568
layer part10             26791116     58.032      2.568
layer part11             26791116     58.032      2.568
layer part12             26791116     58.032      2.568
layer part13             26791116     58.032      2.568
layer part14             26791116     58.032      2.568
layer part15             26791116     58.032      2.568
layer part16             26791116     58.032      2.568
layer part17             26791116     58.032      2.568
layer part18             26791116     58.032      2.568
layer part19             26791116     58.032      2.568
