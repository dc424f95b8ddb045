// The documentation: the API's document, the guides as HTML, and the page that shows both.

import { Elysia } from 'elysia'
import aider from '../../docs/guides/aider.md' with { type: 'text' }
import anthropicSdk from '../../docs/guides/anthropic-sdk.md' with { type: 'text' }
import apps from '../../docs/guides/apps.md' with { type: 'text' }
import claudeCode from '../../docs/guides/claude-code.md' with { type: 'text' }
import cline from '../../docs/guides/cline.md' with { type: 'text' }
import codex from '../../docs/guides/codex.md' with { type: 'text' }
import continueDev from '../../docs/guides/continue.md' with { type: 'text' }
import copilotCli from '../../docs/guides/copilot-cli.md' with { type: 'text' }
import crush from '../../docs/guides/crush.md' with { type: 'text' }
import curl from '../../docs/guides/curl.md' with { type: 'text' }
import demo from '../../docs/guides/demo.md' with { type: 'text' }
import droid from '../../docs/guides/droid.md' with { type: 'text' }
import editors from '../../docs/guides/editors.md' with { type: 'text' }
import frameworks from '../../docs/guides/frameworks.md' with { type: 'text' }
import goose from '../../docs/guides/goose.md' with { type: 'text' }
import hermes from '../../docs/guides/hermes.md' with { type: 'text' }
import langchain from '../../docs/guides/langchain.md' with { type: 'text' }
import llm from '../../docs/guides/llm.md' with { type: 'text' }
import mistralVibe from '../../docs/guides/mistral-vibe.md' with { type: 'text' }
import openaiAgents from '../../docs/guides/openai-agents.md' with { type: 'text' }
import openaiSdk from '../../docs/guides/openai-sdk.md' with { type: 'text' }
import opencode from '../../docs/guides/opencode.md' with { type: 'text' }
import pi from '../../docs/guides/pi.md' with { type: 'text' }
import qwenCode from '../../docs/guides/qwen-code.md' with { type: 'text' }
import start from '../../docs/guides/start.md' with { type: 'text' }
import aiSdk from '../../docs/guides/vercel-ai-sdk.md' with { type: 'text' }
import zed from '../../docs/guides/zed.md' with { type: 'text' }
import type { Gateway } from '../gateway.ts'
import { PAGE_HEADERS, pageOf } from './dashboard.ts'
import type { Side } from './endpoints.ts'
import type { Guide } from './guide.ts'
import { openApi } from './openapi.ts'

const GUIDES: readonly (readonly [string, string])[] = [
  ['start', start],
  ['curl', curl],
  ['openai-sdk', openaiSdk],
  ['anthropic-sdk', anthropicSdk],
  ['vercel-ai-sdk', aiSdk],
  ['langchain', langchain],
  ['openai-agents', openaiAgents],
  ['frameworks', frameworks],
  ['claude-code', claudeCode],
  ['codex', codex],
  ['opencode', opencode],
  ['pi', pi],
  ['qwen-code', qwenCode],
  ['cline', cline],
  ['continue', continueDev],
  ['aider', aider],
  ['copilot-cli', copilotCli],
  ['droid', droid],
  ['mistral-vibe', mistralVibe],
  ['hermes', hermes],
  ['llm', llm],
  ['crush', crush],
  ['goose', goose],
  ['zed', zed],
  ['editors', editors],
  ['apps', apps],
  ['demo', demo],
]

let rendered: Guide[] | undefined
/** The guides, in reading order. They are part of the program, so their HTML is trusted. */
export const guides = (): Guide[] => {
  rendered ??= GUIDES.map(([name, text]) => ({
    name,
    title: /^# (.+)$/m.exec(text)?.[1] ?? name,
    html: Bun.markdown.html(text.replace(/^# .+\n/, '')),
  }))
  return rendered
}

/** Made once: anyone may ask for it, as often as they like. */
const madeOnce = (value: () => unknown): (() => Response) => {
  let bytes: Uint8Array<ArrayBuffer> | undefined
  const headers = { ...PAGE_HEADERS, 'content-type': 'application/json;charset=utf-8', 'cache-control': 'no-cache' }
  return () => {
    bytes ??= new TextEncoder().encode(JSON.stringify(value()))
    return new Response(bytes, { headers })
  }
}
const document = madeOnce(openApi)
const allGuides = madeOnce(guides)

export const docs = (gateway: Gateway, side: Side) => {
  const page = pageOf(gateway, side)
  return new Elysia({ name: 'docs' })
    .get('/docs', ({ request }) => page(request))
    .get('/docs/*', ({ request }) => page(request))
    .get('/docs/openapi.json', document)
    .get('/docs/guides.json', allGuides)
}
