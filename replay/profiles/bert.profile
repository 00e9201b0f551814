# BERT-large with an output for answers, as SwitchML's paper (NSDI 2021, extended version, table 1) trained it:
# TensorFlow, SQuAD, batches of 4, NVIDIA P100.
#
# Bytes: 334,094,338 parameters of 4 bytes as published, layer by layer; the paper's 1274 MiB.
#
# Times: All that passes before the first gradient is sent counts as forward: at 10 Gb/s the 33% of 1677 ms in which
# nothing is sent. 3% of the other 67% overlap with computing, which is the backward pass here. Encoders are alike;
# embeddings and output are guessed to be half and a hundredth of one.
#
# Bucket: Horovod's usual one; the paper says of BERT that its tensors are of some 60 MB.

model BERT
bucket 64M

#     name                bytes  forward ms  backward ms
layer embeddings        127131648     11.289      0.688
layer encoder0           50384896     22.579      1.375
layer encoder1           50384896     22.579      1.375
layer encoder2           50384896     22.579      1.375
layer encoder3           50384896     22.579      1.375
layer encoder4           50384896     22.579      1.375
layer encoder5           50384896     22.579      1.375
layer encoder6           50384896     22.579      1.375
layer encoder7           50384896     22.579      1.375
layer encoder8           50384896     22.579      1.375
layer encoder9           50384896     22.579      1.375
layer encoder10          50384896     22.579      1.375
layer encoder11          50384896     22.579      1.375
layer encoder12          50384896     22.579      1.375
layer encoder13          50384896     22.579      1.375
layer encoder14          50384896     22.579      1.375
layer encoder15          50384896     22.579      1.375
layer encoder16          50384896     22.579      1.375
layer encoder17          50384896     22.579      1.375
layer encoder18          50384896     22.579      1.375
layer encoder19          50384896     22.579      1.375
layer encoder20          50384896     22.579      1.375
layer encoder21          50384896     22.579      1.375
layer encoder22          50384896     22.579      1.375
layer encoder23          50384896     22.579      1.375
layer qa_outputs             8200      0.226      0.014
