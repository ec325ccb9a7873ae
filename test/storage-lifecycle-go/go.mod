module storage-lifecycle-runner

go 1.21
