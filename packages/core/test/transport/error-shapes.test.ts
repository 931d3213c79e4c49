/** Tests which values outside of an answer count as an error. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isError, isErrorObject } from "../../src/transport/http-error.ts";

const none: readonly unknown[] = [undefined, null, 0, NaN, false, "", {}, []];
const some: readonly unknown[] = [1, -1, 500, true, "x", { code: 1 }, ["x"]];

describe("the error of an event", () => {
  it("counts unless it is empty", () => {
    assert.deepEqual(none.filter(isError), []);
    assert.deepEqual(some.filter(isError), some);
  });
});

describe("an object of unknown form", () => {
  const failures: readonly object[] = [
    ...["error", "errors", "detail"].flatMap((name) => some.map((value) => ({ [name]: value }))),
    ...["error_code", "errorCode", "error_msg", "error_message"].flatMap((name) =>
      [1, 500, "E_FAILED", "oops"].map((value) => ({ [name]: value })),
    ),
    { success: false },
    ...["object", "type", "status"].flatMap((name) =>
      ["error", "ERROR", "failed", "failure", "server_error", "task_failed"].map((word) => ({
        [name]: word,
      })),
    ),
    { message: "No.", code: 500 },
    { message: "No.", code: "E_FAILED" },
    { message: "No.", statusCode: 404 },
    { message: "No.", statusCode: 404, code: 200 },
  ];
  const others: readonly object[] = [
    {},
    ...["error", "errors", "detail"].flatMap((name) => none.map((value) => ({ [name]: value }))),
    ...["error_code", "errorCode", "error_msg", "error_message"].flatMap((name) =>
      [0, "0", 200, "204", "ok", "OK", "success", "", null].map((value) => ({ [name]: value })),
    ),
    ...[true, undefined, null, 0, "false"].map((success) => ({ success })),
    ...["object", "type", "status"].flatMap((name) =>
      ["errors.none", "ok", "no error", "failed_over", "-error"].map((word) => ({ [name]: word })),
    ),
    { message: "No." },
    { message: "", code: 500 },
    { code: 500 },
    { statusCode: 500 },
    { message: "Yes.", code: 0 },
    { message: "Yes.", code: "200" },
    { message: "Yes.", statusCode: 200, code: 500 },
  ];

  it("reports a failure in each of the shapes that servers use", () => {
    for (const data of failures) assert.ok(isErrorObject({ ...data }), JSON.stringify(data));
  });

  it("reports no failure otherwise, even with fields that report success", () => {
    for (const data of others) assert.ok(!isErrorObject({ ...data }), JSON.stringify(data));
  });
});
