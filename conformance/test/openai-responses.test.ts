import { tryFixtures } from "./try-fixtures.ts";

tryFixtures("openai-responses");
