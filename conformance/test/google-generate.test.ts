import { tryFixtures } from "./try-fixtures.ts";

tryFixtures("google-generate");
