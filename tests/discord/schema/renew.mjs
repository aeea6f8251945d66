// Renew discord.json, the schema that tests check the bot's requests with. The source is the npm package
// discord-api-spec (MIT), made from Discord's own OpenAPI description. Only this script needs Node, the tests do not:
//
//     npm install --no-save zod@4 discord-api-spec && node renew.mjs > discord.json

import * as z from "zod";
import * as spec from "discord-api-spec/zod";

const BODIES = {
  send: spec.MessageCreateRequestSchema,
  edit: spec.MessageEditRequestPartialSchema,
  private: spec.CreatePrivateChannelRequestSchema,
  answer: z.union([
    spec.CreateMessageInteractionCallbackRequestSchema,
    spec.UpdateMessageInteractionCallbackRequestSchema,
    spec.ApplicationCommandAutocompleteCallbackRequestSchema,
  ]),
  modal: spec.ModalInteractionCallbackRequestSchema,
  follow_up: spec.IncomingWebhookInteractionRequestSchema,
  edit_with_token: spec.IncomingWebhookUpdateForInteractionCallbackRequestPartialSchema,
  command: spec.ApplicationCommandUpdateRequestSchema,
};

const names = z.registry();
for (const [name, schema] of Object.entries(spec)) {
  if (name.endsWith("Schema")) names.add(schema, { id: name.slice(0, -"Schema".length) });
}
const made = z.toJSONSchema(z.object(BODIES), { metadata: names, unrepresentable: "any", io: "input" });

// Discord ignores unknown fields. A test must not.
const closed = (node) => {
  if (Array.isArray(node)) return node.map(closed);
  if (node === null || typeof node !== "object") return node;
  const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, closed(value)]));
  if (copy.type === "object" && copy.properties && !("additionalProperties" in copy)) copy.additionalProperties = false;
  return copy;
};
console.log(JSON.stringify(closed({ bodies: made.properties, $defs: made.$defs }), null, 1));
