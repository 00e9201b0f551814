# An LSTM language model, as SwitchML's paper (NSDI 2021, extended version, table 1) trained it: PyTorch, GBW, batches
# of 64, NVIDIA P100.
#
# Bytes: 426,465,919 parameters of 4 bytes: a vocabulary of 793,471 words, embeddings of 256, one layer of 2048 that
# is projected to 256, a softmax with an output for each word. These are the sizes of a public model for that data
# set, and the paper's 1627 MiB.
#
# Times: All that passes before the first gradient is sent counts as forward, also the softmax's gradients: at 10 Gb/s
# the 6% of 1534 ms in which nothing is sent. 10% of the other 94% overlap with computing, which is the backward pass
# here: nearly all of it the LSTM's, and some for the embedding. How the forward pass is divided does not matter.

model LSTM

#     name                bytes  forward ms  backward ms
layer embedding         812514304      1.841      4.000
layer lstm               75563008     46.020    139.996
layer projection          2098176      0.920      0.200
layer softmax           815688188     43.259      0.000
