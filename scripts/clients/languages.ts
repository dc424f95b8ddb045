// The clients that are driven, by language: what installs them, pinned, and the program that asks by them. Packages are kept
// where their tools keep them for others, too.

import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { done, installPython } from '../servers/run.ts'

export type Asked = { url: string; key: string; model: string }
export type Program = { command: string[]; folder: string }
export type Language = { name: string; install(root: string): Program[] }

const here = (name: string): string => join(import.meta.dir, name)

/** Sets of packages that cannot stand beside each other, with the program that asks by them. */
const PYTHON: Record<string, { program: string; packages: readonly string[] }> = {
  python: {
    program: 'ask.py',
    packages: [
      ...['openai==3.57.0', 'anthropic==2.14.0', 'litellm==1.110.2', 'langchain-openai==1.7.4'],
      ...['langchain-anthropic==1.7.10', 'pydantic-ai-slim[openai,anthropic]==2.68.0', 'inspect-ai==0.3.285'],
    ],
  },
  'llama-index': { program: 'ask.py', packages: ['llama-index-llms-openai-like==0.8.1'] },
  'agent-framework': {
    program: 'frameworks.py',
    packages: ['agent-framework-openai==1.17.0', 'agent-framework-anthropic==1.0.0b261022'],
  },
  crewai: { program: 'frameworks.py', packages: ['crewai[anthropic]==1.15.30'] },
}

const python: Language = {
  name: 'python',
  install: (root) =>
    Object.entries(PYTHON).map(([name, { program, packages }]) => {
      const folder = join(root, name)
      installPython(root, folder, packages)
      const names = packages.map((one) => one.replace(/\[.*\]/, '').replace(/==.*/, ''))
      return { folder, command: [join(folder, 'bin', 'python'), here(program), ...names] }
    }),
}

const GO = {
  'github.com/openai/openai-go/v3': 'v3.99.0',
  'github.com/anthropics/anthropic-sdk-go/v2': 'v2.15.0',
  'github.com/sashabaranov/go-openai': 'v1.43.0',
}

const go: Language = {
  name: 'go',
  install: (root) => {
    const folder = join(root, 'go')
    mkdirSync(folder, { recursive: true })
    copyFileSync(here('ask.go'), join(folder, 'main.go'))
    if (!existsSync(join(folder, 'go.mod'))) {
      done(['go', 'mod', 'init', 'clients'], folder)
      done(['go', 'get', ...Object.entries(GO).map(([name, version]) => `${name}@${version}`)], folder)
    }
    done(['go', 'build', '-o', 'ask', '.'], folder)
    return [{ folder, command: [join(folder, 'ask')] }]
  },
}

/** Versions of a library that cannot stand beside each other, by the program that asks by them: its project and class. */
const JAVA: Record<string, { project: string; name: string }> = {
  java: { project: 'pom.xml', name: 'Ask' },
  spring: { project: 'spring.xml', name: 'Spring' },
}

const java: Language = {
  name: 'java',
  install: (root) =>
    Object.entries(JAVA).map(([at, { project, name }]) => {
      const folder = join(root, at)
      const sources = join(folder, 'src/main/java')
      mkdirSync(sources, { recursive: true })
      copyFileSync(here(project), join(folder, 'pom.xml'))
      copyFileSync(here(`${name}.java`), join(sources, `${name}.java`))
      done(['mvn', '-q', 'compile', 'dependency:build-classpath', '-Dmdep.outputFile=classpath'], folder)
      return { folder, command: ['sh', '-c', `exec java -cp "target/classes:$(cat classpath)" ${name}`] }
    }),
}

const rust: Language = {
  name: 'rust',
  install: (root) => {
    const folder = join(root, 'rust')
    mkdirSync(join(folder, 'src'), { recursive: true })
    copyFileSync(here('Cargo.toml'), join(folder, 'Cargo.toml'))
    copyFileSync(here('ask.rs'), join(folder, 'src/main.rs'))
    done(['cargo', 'build', '-q'], folder)
    return [{ folder, command: [join(folder, 'target/debug/clients')] }]
  },
}

export const LANGUAGES: readonly Language[] = [python, go, java, rust]
