# ResNet-50, as SwitchML's paper (NSDI 2021, extended version, table 1) trained it: TensorFlow, ImageNet-1K, batches
# of 64, NVIDIA P100.
#
# Bytes: 25,557,032 parameters of 4 bytes as published, 97 MiB, block by block, all times 0.892, as the paper has 87
# MiB.
#
# Times: a batch of the paper's at 100 Gb/s, 270 ms, of which 94% of communication overlaps with computing, is its
# computing. The backward pass takes twice as long as the forward pass; both are divided among blocks by their
# multiplications.
#
# Bucket: Horovod's usual one.

model ResNet-50
bucket 64M

#     name                bytes  forward ms  backward ms
layer conv1                 34040      2.597      5.195
layer conv2_1              267740      5.089     10.178
layer conv2_2              251292      4.806      9.612
layer conv2_3              251292      4.806      9.612
layer conv3_1             1354244      8.199     16.397
layer conv3_2              999692      4.806      9.612
layer conv3_3              999692      4.806      9.612
layer conv3_4              999692      4.806      9.612
layer conv4_1             5398700      8.199     16.397
layer conv4_2             3987800      4.806      9.612
layer conv4_3             3987800      4.806      9.612
layer conv4_4             3987800      4.806      9.612
layer conv4_5             3987800      4.806      9.612
layer conv4_6             3987800      4.806      9.612
layer conv5_1            21558248      8.199     16.397
layer conv5_2            15929272      4.806      9.612
layer conv5_3            15929272      4.806      9.612
layer fc                  7313928      0.045      0.090
