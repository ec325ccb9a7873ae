import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { finishOperations, type Described } from "./finish-operations.ts";

const objectOf = (name: string) => ({ type: "object", properties: { [name]: { type: "string" } } });
const json = (schema: object) => ({ content: { "application/json": { schema } } });
const named = (name: string) => json({ $ref: `#/components/schemas/${name}` });

/** The document of one operation, finished. */
function finished(operation: Pick<Described["paths"][string][string], "responses" | "requestBody">) {
  const document: Described = {
    components: { schemas: {}, examples: {} },
    paths: { "/api/things": { post: { operationId: "makeThing", ...operation } } },
  };
  finishOperations(document);
  const { schemas } = document.components;
  return { schemas, operation: document.paths["/api/things"]?.["post"] };
}

describe("the schemas of an operation", () => {
  it("have its name, the use, and the status of an answer that refuses", () => {
    const { schemas, operation } = finished({
      requestBody: json(objectOf("body")),
      responses: { "201": json(objectOf("made")), "409": json({ anyOf: [] }) },
    });
    assert.deepEqual(schemas, {
      MakeThingRequest: objectOf("body"),
      MakeThingAnswer: objectOf("made"),
      MakeThingAnswer409: { anyOf: [] },
    });
    assert.deepEqual(operation, {
      operationId: "makeThing",
      requestBody: named("MakeThingRequest"),
      responses: { "201": named("MakeThingAnswer"), "409": named("MakeThingAnswer409") },
    });
  });

  it("stay where they are as references and lists", () => {
    const responses = { "200": json({ type: "array" }), "404": json({ $ref: "#/components/schemas/Error" }) };
    const { schemas, operation } = finished({ responses: structuredClone(responses) });
    assert.deepEqual([schemas, operation?.responses], [{}, responses]);
  });

  it("share a name where they are the same, and only then", () => {
    const same = finished({ responses: { "200": json(objectOf("a")), "202": json(objectOf("a")) } });
    assert.deepEqual(same.schemas, { MakeThingAnswer: objectOf("a") });
    assert.deepEqual(same.operation?.responses["202"], named("MakeThingAnswer"));
    const other = finished({ responses: { "200": json(objectOf("a")), "202": json(objectOf("b")) } });
    assert.deepEqual(other.schemas, { MakeThingAnswer: objectOf("a") });
    assert.deepEqual(other.operation?.responses["202"], json(objectOf("b")));
  });
});
