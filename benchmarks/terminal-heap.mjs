// Loaded into a measured program by --import. On SIGUSR2 it writes to the file of
// BOWLINE_BENCH_HEAP, in bytes: the size of the young generation, and what the heap holds after a
// garbage collection.
import { renameSync, writeFileSync } from "node:fs";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");
const file = process.env.BOWLINE_BENCH_HEAP;

process.on("SIGUSR2", () => {
  const spaces = getHeapSpaceStatistics();
  const young = spaces.find(({ space_name: name }) => name === "new_space");
  collect();
  const { heapUsed: held } = process.memoryUsage();
  writeFileSync(`${file}.part`, JSON.stringify({ held, young: young.physical_space_size }));
  renameSync(`${file}.part`, file);
});
