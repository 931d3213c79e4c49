// gai's agent: tools with their executors, an immutable agent, a transport, and a result instead of
// an exception.
import {
  Agent,
  anthropic,
  errorToString,
  fetchRuntime,
  ok,
  run,
  textContent,
  Tool,
  userText,
} from "@bowline/compat/gai";
import { Type } from "typebox";

const weather = Tool.new({
  name: "get_weather",
  description: "Get current weather for a location",
  schema: Type.Object({ location: Type.String(), unit: Type.Optional(Type.String()) }),
  execute: (ctx: { station: string }, { location, unit = "celsius" }) =>
    ok(`${location}: 20 ${unit}, says ${ctx.station}`),
});

const config = anthropic.new(process.env.ANTHROPIC_API_KEY ?? "", "claude-sonnet-4-5");
const agent = Agent.new(anthropic.provider(config))
  .withSystemPrompt("You are a helpful assistant with access to weather.")
  .withTool(weather)
  .withMaxIterations(5);

const messages = [userText("What's the weather like in Madrid?")];
const result = await run(agent, { station: "Retiro" }, messages, fetchRuntime());
if (result.ok)
  console.log(textContent(result.value.response), `(${result.value.iterations} iterations)`);
else console.log(errorToString(result.error), `(after ${result.error.messages.length} messages)`);
