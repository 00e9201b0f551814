# SSD, as SwitchML's paper (NSDI 2021, extended version, table 1) trained it: PyTorch, COCO 2017, batches of 16,
# NVIDIA P100.
#
# Bytes: the paper has 98 MiB and does not say which network it is. These are the layers of SSD300 with VGG16 as
# published for 21 classes, 26,284,974 parameters of 4 bytes, all times 0.977.
#
# Times: a batch of the paper's, 293 ms both at 10 and 100 Gb/s, of which 99% of communication overlaps with
# computing, is its computing. The backward pass takes twice as long as the forward pass; both are divided among
# layers by their multiplications.
#
# Bucket: the paper says that SSD makes many calls for small gradients.

model SSD
bucket 1M

#     name                bytes  forward ms  backward ms
layer conv1_1                7004      0.484      0.968
layer conv1_2              144368     10.325     20.650
layer conv2_1              288740      5.162     10.325
layer conv2_2              576976     10.325     20.650
layer conv3_1             1153952      5.162     10.325
layer conv3_2             2306904     10.325     20.650
layer conv3_3             2306904     10.325     20.650
layer conv4_1             4613804      5.301     10.602
layer conv4_2             9225612     10.602     21.204
layer conv4_3             9225612     10.602     21.204
layer conv5_1             9225612      2.651      5.301
layer conv5_2             9225612      2.651      5.301
layer conv5_3             9225612      2.651      5.301
layer fc6                18451220      5.301     10.602
layer fc7                 4103384      1.178      2.356
layer conv8               5639652      0.693      1.387
layer conv9               1410664      0.043      0.087
layer conv10              1282556      0.012      0.024
layer conv11              1282556      0.001      0.003
layer head1               1801876      2.071      4.141
layer head2               5405044      1.553      3.106
layer head3               2702816      0.215      0.430
layer head4               1351700      0.027      0.054
layer head5                901132      0.006      0.013
layer head6                901132      0.001      0.001
