/** What `bowline serve --cluster` expects of this package, which it imports only when it is needed. */
import type { ClusterPackage } from "../../bowline/src/serve/cluster/cluster-package.ts";
import { createCluster, readClusterStatus } from "../src/index.ts";

({ createCluster, readClusterStatus }) satisfies ClusterPackage;
