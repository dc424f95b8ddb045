// What is nobody's fault within a request is known by what a sentence is about and what it says of that, in words of no list.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/ir/json.ts'
import { codesIn, kindIn } from '../../../src/wire/refusal/kinds.ts'
import { saidIn } from '../../../src/wire/refusal/names.ts'

const kindOf = (status: number, body: JsonObject, upstream = 'acme-7b'): string | undefined => {
  const { text, names } = saidIn(body)
  return kindIn(status, { text, names, codes: codesIn(body) }, upstream)?.kind
}
const said = (message: string, more: JsonObject = {}): JsonObject => ({ error: { message, ...more } })

describe('a refusal is of its kind', () => {
  test.each<[number, JsonObject, string | undefined]>([
    [402, {}, 'out-of-money'],
    [400, said('The wallet of this project has no more credits.'), 'out-of-money'],
    [403, said('Your prepaid balance is used up: top up to go on.'), 'out-of-money'],
    [429, said('No.', { code: 'WorkspaceSpendLimitReached' }), 'out-of-money'],
    [400, said('litellm.X: {"error": {"type": "insufficient_quota"}}'), 'out-of-money'],
    [400, said('Thinking budget exceeds max_tokens.'), undefined],
    [400, said("max_tokens (9) must be greater than the thinking budget's least"), undefined],
    [429, said('Too many requests for this account.'), undefined],
    [500, said('The balance of this account is insufficient.'), undefined],
    [404, said('No deployment named x: the deployment does not exist.'), 'unknown-model'],
    [400, said('acme-7b: not found in the registry'), 'unknown-model'],
    [410, said('The model acme-7b has been retired.'), 'unknown-model'],
    [400, said('No.', { type: 'InvalidModel' }), 'unknown-model'],
    [503, said('The model is not available at the moment.'), undefined],
    [400, said('temperature is not available for this model'), undefined],
    [400, said('This model does not support tools.'), undefined],
    [400, said('Invalid model output: try again.'), undefined],
    [404, said('Not Found'), undefined],
    [400, said('The API key you gave has expired.'), 'refused'],
    [400, said('请求过多，请稍后再试'), 'overloaded'],
    [403, said('您的请求频率过高'), 'overloaded'],
    [400, said('当前模型并发请求数超限'), 'overloaded'],
    [400, said('API calls limit exceeded'), 'overloaded'],
    [400, said('请求参数 temperature 过高，最大为 1'), undefined],
    [400, said('请求中的工具数量过多，最多 128 个'), undefined],
    [400, said('函数调用过多：一条消息最多 16 个'), undefined],
    [400, said('Function calls limit exceeded: at most 16 in a message.'), undefined],
    [400, said('Server is at full capacity, try later.'), 'overloaded'],
    [400, said('Context capacity exceeded.'), undefined],
    [400, said('The limit of tool calls was reached in this conversation.'), undefined],
    [400, said('Your country is not supported.'), 'refused'],
    [401, said('The API key you gave has expired.'), undefined],
    [400, said('The answer was blocked by our content filters.'), 'content-policy'],
    [403, said('This input was flagged by the moderation of the operator.'), 'content-policy'],
    [400, said('No.', { innererror: { code: 'ResponsibleAIPolicyViolation' } }), 'content-policy'],
    [400, said("Unknown parameter: 'moderation'."), undefined],
    [500, said('Content filters failed to load.'), undefined],
    [400, said('A credit card must be added first: the workspace has no payment method.'), 'out-of-money'],
    [403, said('Your payment method was declined.'), 'out-of-money'],
    [400, said('Send fewer pictures: see the usage limit of this endpoint.'), undefined],
    [400, said('You have reached your specified API usage limits.'), 'out-of-money'],
    [400, said('Request blocked: a valid credit card number was detected in the prompt.'), undefined],
    [400, said("messages.3: the tool 'credit card' requires a result"), undefined],
    [422, said('Invalid schema: the enum of a payment method must be a valid value'), undefined],
    [403, said('The trial is over. Upgrade to continue using the service.'), 'out-of-money'],
    [400, said('This version of the SDK is too old. Upgrade it to continue using the API.'), undefined],
    [400, said("To continue using the service, add the 'x-client-version' header."), undefined],
    [400, said("'functions' is switched off. Add 'tools' to continue using function calls."), undefined],
    [400, said('The answer met its token limit. Raise max_tokens to continue using this model.'), undefined],
    [403, said('The terms have changed: visit the console to continue using this model.'), undefined],
    [429, said('Reason: the monthly budget is exceeded.'), 'out-of-money'],
    [400, said('The reasoning budget is over what this model takes.'), undefined],
    [400, said('The weekly usage quota was exceeded.'), 'overloaded'],
    [400, said('You are over the limit of 50 requests per day.'), 'overloaded'],
    [400, said('messages: the monthly report exceeds the limit of 20 characters'), undefined],
    [400, said("field 'weekly plan' exceeds the 64 characters limit"), undefined],
    [400, said("The limit is exceeded by the schedule 'daily'."), undefined],
    [400, said('The 5-hour usage limit was reached.'), 'overloaded'],
    [429, said('The 5-hour usage limit was reached.'), undefined],
    [429, said('The usage limit was reached, it will reset on Monday.'), undefined],
    [403, said('The membership has lapsed.'), 'out-of-money'],
    [403, said('This deployment needs an active subscription.'), 'out-of-money'],
    [400, said('subscription: this field requires a string'), undefined],
    [400, said("'x' failed the check of membership and requires another name"), undefined],
    [400, said('Add a turn of the user to keep going: usage of a prefill is not known here.'), undefined],
    [403, said('This workspace is suspended.'), undefined],
    [403, said('The account is restricted.'), 'out-of-money'],
    [403, said('The account is restricted to what its owner allows.'), undefined],
    [400, said('The model output was not found to be JSON.'), undefined],
    [400, said("unknown field 'guardrails', validation failed"), undefined],
    [400, said('safety.guardrails: validation failed'), undefined],
    [400, said('guardrails: validation failed', { param: 'guardrails' }), undefined],
    [400, said('Blocked by guardrails.', { param: 'messages' }), 'content-policy'],
    [400, said('The file balance.csv is over what is allowed'), undefined],
    [404, said('Not activated: the model of that name.'), undefined],
    [404, said('You have not activated this model.'), 'unknown-model'],
    [400, said('Known are a and b, but got acme-7b.'), 'unknown-model'],
    [400, said('acme-7b got a temperature of 3, above 2.'), undefined],
    [404, said('The model does not support this endpoint.'), undefined],
    [404, said('This model is only supported by /v1/other.'), undefined],
    [404, said('The model response r1 was not found.'), undefined],
    [404, said('Model acme-7b: gone.'), 'unknown-model'],
    [404, said('The model acme-7b is not supported in this environment.'), 'unknown-model'],
    [400, said('There is no model turn before the result of a tool.'), undefined],
    [400, said('No model by that name.'), 'unknown-model'],
    [400, said('The model generated an invalid call.'), undefined],
    [400, said("The model expects the role 'user', but an unknown role was given."), undefined],
    [400, said('Engine failed: invalid JSON.'), undefined],
    [400, said('The model refuses a turn whose text was not provided.'), undefined],
    [400, said('For models that think, temperature is not available.'), undefined],
    [400, said('The model acme-7b is unknown to this server.'), 'unknown-model'],
    [400, said('The header x-billing-tag is missing.'), undefined],
    [400, said('invalid x-api-key'), 'refused'],
    [403, said('Payment required.'), 'out-of-money'],
    [429, said('The rate limit of the free tier was exceeded.'), undefined],
    [429, said('The free tier is exhausted.'), 'out-of-money'],
    [400, said('The capacity of the container is exceeded.'), undefined],
    [400, said('The file capacity was reached: 64 of them.'), undefined],
    [400, said('The capacity of this server is exhausted.'), 'overloaded'],
    [400, said('moderation must be low or auto: it contains high.'), undefined],
    [400, said('Guardrails are not included in this tier.'), undefined],
    [400, said('The guardrail identifier failed the check.'), undefined],
    [400, said('The moderation model failed to load.'), undefined],
    [400, said('The input failed moderation.'), 'content-policy'],
    [400, said('The name was flagged as a duplicate.'), undefined],
    [400, said('The text was flagged as unsafe.'), 'content-policy'],
    [400, said('Flagged for violence.'), 'content-policy'],
    [403, said('No.', { code: 'org_policy' }), undefined],
    [403, said('No.', { code: 'RetentionPolicyViolation' }), undefined],
    [400, said('No.', { code: 'weapons_policy' }), 'content-policy'],
  ])('%d %j: %p', (status, body, kind) => {
    expect(kindOf(status, body)).toBe(kind as never)
  })

  test('of whatever it is said, without failing', () =>
    fc.assert(
      fc.property(
        fc.constantFrom(200, 400, 403, 404, 429, 503),
        fc.anything(),
        fc.string({ maxLength: 300 }),
        (status, any, text) => {
          for (const body of [any, said(text), { detail: [text] }]) {
            const { text: words } = saidIn(body)
            const known = kindIn(status, { text: words, codes: codesIn(body) })
            if (known?.told !== undefined) expect(known.told.at + known.told.length).toBeLessThanOrEqual(words.length)
          }
        },
      ),
    ))

  test.each(['the model ', 'balance ', "'code': ", 'content ', '模型', 'a. '])('at once, however long: %j', (piece) => {
    expect(() => kindOf(400, said(piece.repeat(100_000)))).not.toThrow()
  })
})
