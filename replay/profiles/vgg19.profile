# VGG19, as SwitchML's paper (NSDI 2021, extended version, table 1) trained it: PyTorch, ImageNet-1K, batches of 64,
# NVIDIA P100.
#
# Bytes: 143,667,240 parameters of 4 bytes, layer by layer as published; the paper's 548 MiB.
#
# Times: a batch of the paper's at 100 Gb/s, 499 ms, of which 99% of communication overlaps with computing, is its
# computing. All that passes before the first gradient is sent counts as forward: at 10 Gb/s the 27% of 661 ms in
# which nothing is sent. Both parts are divided among layers by their multiplications.

model VGG19

#     name                bytes  forward ms  backward ms
layer conv1_1                7168      0.788      1.416
layer conv1_2              147712     16.815     30.200
layer conv2_1              295424      8.408     15.100
layer conv2_2              590336     16.815     30.200
layer conv3_1             1180672      8.408     15.100
layer conv3_2             2360320     16.815     30.200
layer conv3_3             2360320     16.815     30.200
layer conv3_4             2360320     16.815     30.200
layer conv4_1             4720640      8.408     15.100
layer conv4_2             9439232     16.815     30.200
layer conv4_3             9439232     16.815     30.200
layer conv4_4             9439232     16.815     30.200
layer conv5_1             9439232      4.204      7.550
layer conv5_2             9439232      4.204      7.550
layer conv5_3             9439232      4.204      7.550
layer conv5_4             9439232      4.204      7.550
layer fc6               411058176      0.934      1.678
layer fc7                67125248      0.153      0.274
layer fc8                16388000      0.037      0.067
