// Playground: a conversation on any wire with any model, its answers as they come and the raw frames beside them.

import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { call } from '../lib/api.ts'
import { answer, draft, edit, turns } from '../lib/draft.ts'
import { count, duration } from '../lib/format.ts'
import { forgetOwnKey, ownKey } from '../lib/own-key.ts'
import { bodyOf, EFFORTS, PLAY_WIRES, type Play, type Prompt, play, type Turn } from '../lib/play.ts'
import { useResource } from '../lib/resource.ts'
import { isAdmin } from '../lib/session.ts'
import { Trouble } from '../ui/account-trouble.tsx'
import { Area, Check, Form, readCount, Select, Text } from '../ui/fields.tsx'
import { Badge, Button, Card, Empty, Failure, Notice, PageHead, Segments, Snippet } from '../ui/parts.tsx'

const IMAGE_LIMIT = 8 * 1024 * 1024

export const Playground = () => {
  const models = useResource((signal) => call('models.list', undefined, signal), [])
  const { secret, ...asked } = draft.value
  const { wire, text, image, tool, size, system, maxTokens, temperature, effort } = asked
  const abort = useRef<AbortController>(undefined)
  useEffect(() => () => abort.current?.abort(), [])

  const kind = wire === 'images' ? 'image' : 'text'
  const fitting = (models.value?.items ?? []).filter((item) => item.kind === kind)
  const options = [
    ...(kind === 'text' ? [['auto', 'auto'] as const] : []),
    ...fitting.map(({ id, available }) => [id, available ? id : `${id} (not configured)`] as const),
  ]
  const model = options.some(([id]) => id === asked.model) ? asked.model : (options[0]?.[0] ?? '')
  const prompt: Prompt = {
    ...{ ...asked, model, image: kind === 'text' ? image : undefined },
    ...{ maxTokens: readCount(maxTokens) ?? 0, temperature: temperatureIn(temperature) },
    turns: kind === 'text' ? turns.value : [],
  }
  const waiting = kind === 'text' && (turns.value.at(-1)?.calls.length ?? 0) > 0
  const running = answer.value?.state === 'running'

  const send = (): void => {
    abort.current?.abort()
    const mine = new AbortController()
    abort.current = mine
    const isOwn = secret.trim() === ''
    const keyOf = async (): Promise<string> => (isOwn ? ownKey() : secret.trim())
    void play(prompt, keyOf, mine.signal, (now) => {
      if (abort.current !== mine) return
      // Ended elsewhere, by signing out there for instance: the next try makes another.
      if (isOwn && now.status === 401) forgetOwnKey()
      answer.value = now
    })
  }
  const goOn = (): void => {
    const { text: said = '', calls = [] } = answer.value ?? {}
    turns.value = [...turns.value, { text, image: prompt.image, answer: said, calls }]
    answer.value = undefined
    edit({ text: '', image: undefined })
    // The system's stands before it.
    Array.from(document.querySelectorAll<HTMLElement>('.play textarea')).at(-1)?.focus()
  }
  const mayGoOn = kind === 'text' && answer.value?.state === 'done'
  return (
    <>
      <PageHead title="Playground" lead="A real request: its tokens are billed, and count towards your limits." />
      {isAdmin.value && <Trouble />}
      <div class="play">
        <Card>
          <Form onSubmit={send}>
            <Text
              label="Key"
              type="password"
              value={secret}
              onChange={(next) => edit({ secret: next })}
              placeholder="Your own, for an hour"
              autocomplete="off"
              hint="Empty: a short-lived key of your own, which ends when you sign out. One that is pasted stays in this tab."
            />
            <Select
              label="Wire"
              value={wire}
              options={PLAY_WIRES.map(([name, label]) => [name, label] as const)}
              onChange={(next) => edit({ wire: next })}
            />
            {models.error && <Failure error={models.error} retry={models.reload} />}
            <Select label="Model" value={model} options={options} onChange={(next) => edit({ model: next })} />
            {kind === 'text' && (
              <Area label="System prompt" value={system} onChange={(next) => edit({ system: next })} rows={2} />
            )}
            <Area
              label={waiting ? 'Result of the tool' : 'Prompt'}
              value={text}
              onChange={(next) => edit({ text: next })}
              rows={5}
              hint="Ctrl or ⌘ with Enter sends."
            />
            {kind === 'text' ? (
              <>
                {!waiting && <ImageField image={image} onImage={(next) => edit({ image: next })} />}
                <div class="pair">
                  <Text
                    label="Most output"
                    value={maxTokens}
                    onChange={(next) => edit({ maxTokens: next })}
                    inputMode="numeric"
                    required
                    pattern="[0-9][0-9., ]*[kKmM]?"
                    hint="Tokens"
                  />
                  <Text
                    label="Temperature"
                    value={temperature}
                    onChange={(next) => edit({ temperature: next })}
                    inputMode="decimal"
                    placeholder="The model's own"
                    pattern="[0-9]*[.,]?[0-9]*"
                  />
                </div>
                <Select
                  label="Reasoning effort"
                  value={effort}
                  options={EFFORTS.map((name) => [name, name === '' ? "The model's own" : name] as const)}
                  onChange={(next) => edit({ effort: next })}
                />
                <Check
                  label="Offer a tool"
                  hint="get_weather(city): the model may ask for it"
                  checked={tool}
                  onChange={(next) => edit({ tool: next })}
                />
              </>
            ) : (
              <Text label="Size" value={size} onChange={(next) => edit({ size: next })} pattern="[0-9]+x[0-9]+|auto" />
            )}
            <div class="row">
              <Button kind="primary" type="submit" busy={running}>
                Send
              </Button>
              <Button disabled={!running} onClick={() => abort.current?.abort()}>
                Stop
              </Button>
              {mayGoOn && <Button onClick={goOn}>Go on</Button>}
              {turns.value.length > 0 && (
                <Button
                  onClick={() => {
                    turns.value = []
                    answer.value = undefined
                  }}
                >
                  Start over
                </Button>
              )}
            </div>
          </Form>
        </Card>
        <div class="stack">
          {kind === 'text' && turns.value.length > 0 && <Turns of={turns.value} />}
          <Answer of={answer.value} prompt={prompt} />
        </div>
      </div>
    </>
  )
}

/** A comma parts decimals in many languages. */
const temperatureIn = (text: string): number | undefined =>
  text.trim() === '' ? undefined : Number(text.replace(',', '.'))

/** What was said before. */
const Turns = ({ of }: { of: readonly Turn[] }) => (
  <Card title="Before">
    <ol class="turns">
      {of.map(({ text, image, answer: said, calls }, index) => (
        <li key={index}>
          <p>
            <b>{index > 0 && (of[index - 1]?.calls.length ?? 0) > 0 ? 'Tool' : 'You'}</b> {text}
            {image !== undefined && <span class="muted"> (with an image)</span>}
          </p>
          {said !== '' && (
            <p>
              <b>Model</b> {said}
            </p>
          )}
          {calls.map(({ id, name, input }) => (
            <p key={id}>
              <b>Calls {name}</b> <code style={{ overflowWrap: 'anywhere' }}>{input}</code>
            </p>
          ))}
        </li>
      ))}
    </ol>
  </Card>
)

const ImageField = ({
  image,
  onImage,
}: {
  image: string | undefined
  onImage: (image: string | undefined) => void
}) => {
  const id = useId()
  const field = useRef<HTMLInputElement>(null)
  const [error, setError] = useState('')
  const read = async (file: File | undefined): Promise<void> => {
    setError('')
    if (file === undefined) return onImage(undefined)
    if (file.size > IMAGE_LIMIT) return setError('The image is larger than 8 MB.')
    const reader = new FileReader()
    reader.onload = () => onImage(String(reader.result))
    reader.readAsDataURL(file)
  }
  return (
    <div class="field">
      <label for={id}>Image</label>
      <input
        id={id}
        ref={field}
        class="input"
        type="file"
        accept="image/png,image/jpeg,image/webp,image/gif"
        onChange={({ currentTarget }) => void read(currentTarget.files?.[0])}
      />
      {error !== '' && <Notice tone="bad">{error}</Notice>}
      {image && (
        <div class="row">
          <img src={image} alt="To be sent" style={{ maxHeight: '90px', maxWidth: '100%', borderRadius: '6px' }} />
          <Button
            size="small"
            onClick={() => {
              if (field.current !== null) field.current.value = ''
              onImage(undefined)
              field.current?.focus()
            }}
          >
            Remove the image
          </Button>
        </div>
      )}
    </div>
  )
}

const VIEWS = [
  ['answer', 'Answer'],
  ['frames', 'Raw frames'],
  ['request', 'Request'],
] as const

const Answer = ({ of, prompt }: { of: Play | undefined; prompt: Prompt }) => {
  const [view, setView] = useState<(typeof VIEWS)[number][0]>('answer')
  return (
    <Card title={<Status of={of} />} tools={<Segments label="View" options={VIEWS} value={view} onChange={setView} />}>
      {view === 'request' ? (
        <Snippet text={JSON.stringify(bodyOf(prompt), short, 2)} />
      ) : of === undefined ? (
        <Empty title="Nothing sent yet">
          <p>Choose a wire and a model, and send. Any model answers on any text wire.</p>
        </Empty>
      ) : view === 'frames' ? (
        <Frames of={of} />
      ) : (
        <Said of={of} />
      )}
    </Card>
  )
}

const short = (_: string, value: unknown): unknown =>
  typeof value === 'string' && value.length > 300 ? `${value.slice(0, 60)}…` : value

const TONES = { running: undefined, done: 'good', failed: 'bad', stopped: 'warn' } as const
const WORDS = { running: 'Answering', done: 'Done', failed: 'Failed', stopped: 'Stopped' } as const

const Status = ({ of }: { of: Play | undefined }) =>
  of === undefined ? (
    <>Answer</>
  ) : (
    <span class="row" role="status">
      <Badge tone={TONES[of.state]}>{WORDS[of.state]}</Badge>
      <span class="muted small" style={{ fontWeight: 400 }}>
        {[
          of.status !== undefined && `HTTP ${of.status}`,
          of.firstMs !== undefined && `first frame ${duration(of.firstMs)}`,
          of.totalMs !== undefined && `whole ${duration(of.totalMs)}`,
        ]
          .filter(Boolean)
          .join(' · ')}
      </span>
    </span>
  )

/** Ends that an answer's text does not show. */
const ENDS: Partial<Record<NonNullable<Play['finish']>, string>> = {
  length: 'Cut: it came to the most output that was asked for.',
  'context-length': 'Cut: the context of the model is full.',
  refusal: 'The model refused to answer.',
  'content-filter': 'A content filter withheld the answer, or the rest of it.',
  pause: 'Not at its end: tools at the vendor need another turn.',
}

/** Undefined of an answer that is whole, or under way. */
const endOf = ({ state, finish, text, calls, images }: Play): string | undefined => {
  if (state !== 'done') return undefined
  const isEmpty = text === '' && calls.length === 0 && images.length === 0
  return (finish && ENDS[finish]) ?? (isEmpty ? 'The answer is empty.' : undefined)
}

/** Of a key that is not known: no page tells of its requests. */
const NO_KEY = 401

const Said = ({ of }: { of: Play }) => (
  <div class="stack">
    {of.error && <Notice tone="bad">{of.error}</Notice>}
    {endOf(of) && <Notice tone="warn">{endOf(of)}</Notice>}
    {of.reasoning && <p class="thought">{of.reasoning}</p>}
    {(of.text || of.state === 'running') && (
      <p
        class={of.state === 'running' ? 'answer streaming' : 'answer'}
        aria-live="polite"
        aria-busy={of.state === 'running'}
      >
        {of.text}
      </p>
    )}
    {of.calls.map(({ name, input }, index) => (
      <div key={index}>
        <h3>Calls {name}</h3>
        <Snippet text={input} />
      </div>
    ))}
    {of.images.map((url, index) => (
      <img key={index} src={url} alt="What the model drew" style={{ maxWidth: '100%', borderRadius: '8px' }} />
    ))}
    {of.usage && (
      <p class="muted small">
        {[
          ['input', of.usage.input],
          ['from cache', of.usage.cacheRead],
          ['to cache', of.usage.cacheWrite],
          ['output', of.usage.output],
          ['reasoning', of.usage.reasoning],
        ]
          .flatMap(([name, value]) => (typeof value === 'number' && value > 0 ? [`${name} ${count(value)}`] : []))
          .join(' · ')}{' '}
        tokens
      </p>
    )}
    {of.requestId && (
      <p class="small">
        {of.status === NO_KEY ? (
          <>
            Refused before any model was called: <code>{of.requestId}</code> is in the gateway's log only.
          </>
        ) : (
          <a href={`/dashboard/exchanges/${encodeURIComponent(of.requestId)}`}>See how this request went</a>
        )}
      </p>
    )}
  </div>
)

const Frames = ({ of }: { of: Play }) =>
  of.frames.length === 0 ? (
    of.body === undefined ? (
      <p class="muted">No frame has come yet.</p>
    ) : (
      <Snippet text={of.body} />
    )
  ) : (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it
    <ol class="frames" tabIndex={0} aria-label="Frames of the stream">
      {of.frames.map(({ at, frame }, index) => (
        <li key={index}>
          <span class="at">{at} ms</span>
          <span>
            {frame.event && <b>{frame.event} </b>}
            {frame.data}
          </span>
        </li>
      ))}
    </ol>
  )
