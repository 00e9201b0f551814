# NCF, as SwitchML's paper (NSDI 2021, extended version, table 1) trained it: PyTorch, ML-20m, batches of 131072,
# NVIDIA P100.
#
# Bytes: 31,832,577 parameters of 4 bytes: 138,493 users and 26,744 items, embeddings of 64 for the factors and of 128
# for a network of 256, 256, 128 and 64, as MLPerf has it; the paper's 121 MiB.
#
# Times: All that passes before the first gradient is sent counts as forward: at 10 Gb/s the 28% of 149 ms in which
# nothing is sent. 4% of the other 72% overlap with computing, which is the backward pass here. How both are divided
# is a guess: most is the network's, and the factors' gradients come first.

model NCF

#     name                bytes  forward ms  backward ms
layer mlp_item           13692928      4.172      0.429
layer mlp_user           70908416      4.172      0.858
layer mlp                  428292     25.032      2.575
layer mf_item             6846464      4.172      0.172
layer mf_user            35454208      4.172      0.257
