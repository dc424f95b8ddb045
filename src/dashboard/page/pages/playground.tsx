// Playground: one request on any wire with any model, its answer as it comes and the raw frames beside it.

import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { call } from '../lib/api.ts'
import { answer, draft, edit } from '../lib/draft.ts'
import { count, duration } from '../lib/format.ts'
import { bodyOf, PLAY_WIRES, type Play, type Prompt, play } from '../lib/play.ts'
import { useResource } from '../lib/resource.ts'
import { Area, Check, Form, Select, Text } from '../ui/fields.tsx'
import { Badge, Button, Card, Empty, Failure, Notice, PageHead, Segments, Snippet } from '../ui/parts.tsx'

const IMAGE_LIMIT = 8 * 1024 * 1024

export const Playground = () => {
  const models = useResource((signal) => call('models.list', undefined, signal), [])
  const { secret, ...asked } = draft.value
  const { wire, text, image, tool, size } = asked
  const abort = useRef<AbortController>(undefined)
  useEffect(() => () => abort.current?.abort(), [])

  const kind = wire === 'images' ? 'image' : 'text'
  const fitting = (models.value?.items ?? []).filter((item) => item.kind === kind)
  const options = [
    ...(kind === 'text' ? [['auto', 'auto'] as const] : []),
    ...fitting.map(({ id, available }) => [id, available ? id : `${id} (not configured)`] as const),
  ]
  const model = options.some(([id]) => id === asked.model) ? asked.model : (options[0]?.[0] ?? '')
  const prompt: Prompt = { ...asked, model, image: kind === 'text' ? image : undefined }
  const running = answer.value?.state === 'running'

  const send = (): void => {
    abort.current?.abort()
    const mine = new AbortController()
    abort.current = mine
    void play(prompt, secret.trim(), mine.signal, (now) => {
      if (abort.current === mine) answer.value = now
    })
  }
  return (
    <>
      <PageHead title="Playground" lead="A real request with a real key: its tokens are billed to that key." />
      <div class="play">
        <Card>
          <Form onSubmit={send}>
            <Text
              label="Key"
              type="password"
              value={secret}
              onChange={(next) => edit({ secret: next })}
              placeholder="sk-sl-…"
              autocomplete="off"
              required
              hint="Stays in this tab: it is neither stored nor sent anywhere but to this gateway."
            />
            <Select
              label="Wire"
              value={wire}
              options={PLAY_WIRES.map(([name, label]) => [name, label] as const)}
              onChange={(next) => edit({ wire: next })}
            />
            {models.error && <Failure error={models.error} retry={models.reload} />}
            <Select label="Model" value={model} options={options} onChange={(next) => edit({ model: next })} />
            <Area
              label="Prompt"
              value={text}
              onChange={(next) => edit({ text: next })}
              rows={5}
              hint="Ctrl or ⌘ with Enter sends."
            />
            {kind === 'text' ? (
              <>
                <ImageField image={image} onImage={(next) => edit({ image: next })} />
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
            </div>
          </Form>
        </Card>
        <Answer of={answer.value} prompt={prompt} />
      </div>
    </>
  )
}

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
          <p>Paste a key, choose a wire and a model, and send. Any model answers on any text wire.</p>
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

/** Statuses of the gateway's own refusals, which never become exchanges. */
const NOT_KEPT = new Set<number | undefined>([401, 402, 403, 404, 429])

const Said = ({ of }: { of: Play }) => (
  <div class="stack">
    {of.error && <Notice tone="bad">{of.error}</Notice>}
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
        {NOT_KEPT.has(of.status) ? (
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
