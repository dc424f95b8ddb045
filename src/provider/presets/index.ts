// All presets, in the order they are told in.

import type { Preset } from '../preset.ts'
import { anthropic } from './anthropic.ts'
import { azureOpenai } from './azure-openai.ts'
import { bedrock } from './bedrock.ts'
import { cerebras } from './cerebras.ts'
import { deepseek } from './deepseek.ts'
import { fireworks } from './fireworks.ts'
import { gemini } from './gemini.ts'
import { groq } from './groq.ts'
import { litellm } from './litellm.ts'
import { llamaCpp } from './llama.cpp.ts'
import { lmStudio } from './lm-studio.ts'
import { mistral } from './mistral.ts'
import { mlxLm } from './mlx-lm.ts'
import { moonshot } from './moonshot.ts'
import { nvidiaNim } from './nvidia-nim.ts'
import { ollama } from './ollama.ts'
import { openai } from './openai.ts'
import { openrouter } from './openrouter.ts'
import { sluice } from './sluice.ts'
import { together } from './together.ts'
import { transformers } from './transformers.ts'
import { vertex } from './vertex.ts'
import { vllm } from './vllm.ts'
import { xai } from './xai.ts'
import { zai } from './zai.ts'

export const PRESETS: readonly Preset[] = [
  anthropic,
  openai,
  azureOpenai,
  bedrock,
  vertex,
  openrouter,
  deepseek,
  groq,
  mistral,
  xai,
  gemini,
  together,
  fireworks,
  cerebras,
  nvidiaNim,
  moonshot,
  zai,
  ollama,
  llamaCpp,
  vllm,
  transformers,
  mlxLm,
  lmStudio,
  litellm,
  sluice,
]

export const presetNamed = (name: string): Preset | undefined => PRESETS.find((preset) => preset.name === name)
