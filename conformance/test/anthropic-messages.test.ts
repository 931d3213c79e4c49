import { tryFixtures } from "./try-fixtures.ts";

tryFixtures("anthropic-messages");
