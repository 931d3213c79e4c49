// A page with `useChat`, as an application would write it, over the routes of the example.
import { useChat } from "@ai-sdk/react";
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from "ai";
import { useState } from "react";
import { createRoot } from "react-dom/client";

const id = location.hash.slice(1);
const transport = new DefaultChatTransport({ api: "/api/chat" });

function Part({ part, answer }) {
  if (part.type === "text") return <p className="text">{part.text}</p>;
  if (part.type !== "dynamic-tool") return null;
  const { state, toolName, input, output, errorText, approval } = part;
  return (
    <div className="tool" data-state={state}>
      {toolName} {JSON.stringify(input)} {state} {JSON.stringify(output)} {errorText}
      {state === "approval-requested" && (
        <>
          <button onClick={() => answer({ id: approval.id, approved: true })}>Approve</button>
          <button onClick={() => answer({ id: approval.id, approved: false, reason: "too much" })}>
            Deny
          </button>
        </>
      )}
    </div>
  );
}

function Chat({ messages: initial }) {
  const { messages, status, error, sendMessage, addToolApprovalResponse, regenerate } = useChat({
    id,
    messages: initial,
    transport,
    resume: true,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  const [text, setText] = useState("");
  const send = (event) => {
    event.preventDefault();
    void sendMessage({ text });
    setText("");
  };
  return (
    <>
      <ol>
        {messages.map(({ id: key, role, parts, metadata }) => (
          <li key={key} className={role} data-run={metadata?.runId} data-reason={metadata?.reason}>
            {parts.map((part, index) => (
              <Part key={index} part={part} answer={addToolApprovalResponse} />
            ))}
          </li>
        ))}
      </ol>
      <output id="status">{status}</output>
      <output id="error">{error?.message}</output>
      <form onSubmit={send}>
        <input
          aria-label="Message"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </form>
      <button onClick={() => fetch(`/api/chat/${id}/stop`, { method: "POST" })}>Stop</button>
      <button onClick={() => regenerate()}>Again</button>
    </>
  );
}

const messages = await (await fetch(`/api/chat/${id}`)).json();
createRoot(document.body.appendChild(document.createElement("main"))).render(
  <Chat messages={messages} />,
);
