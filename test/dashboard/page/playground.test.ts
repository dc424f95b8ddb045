// The playground.

import { expect, test } from 'bun:test'
import { describePage, heading } from './browsing.ts'

describePage('the playground', ({ visit, admin, signIn, joined, issue }) => {
  test.each([
    ['Chat completions', 'vendorA-sonnet-5'],
    ['Responses', 'vendorA-haiku-4-5'],
    ['Messages', 'vendorB-5.5'],
  ])('the playground streams %s with %s and shows the raw frames', (wire, model) =>
    admin('/dashboard/playground', async (page) => {
      const { secret } = await issue()
      await page.getByLabel('Key', { exact: true }).fill(secret)
      await page.getByLabel('Wire').selectOption({ label: wire })
      await page.getByLabel('Model', { exact: true }).selectOption(model)
      await page.getByLabel('Prompt', { exact: true }).fill('What does “Phnom Penh” mean? [[pace:20]]')
      await page.getByRole('button', { name: 'Send' }).click()
      await page.getByText('Answering').waitFor()
      await page.getByText('Done', { exact: true }).waitFor()
      expect((await page.locator('.answer').textContent())?.length).toBeGreaterThan(10)
      await page.getByRole('button', { name: 'Raw frames' }).click()
      expect(await page.locator('.frames li').count()).toBeGreaterThan(4)
      await page.getByRole('button', { name: 'Answer' }).click()
      await page.getByRole('link', { name: 'See how this request went' }).click()
      await heading(page, model).waitFor()
      await page.getByRole('heading', { name: 'One attempt' }).waitFor()
    }),
  )

  test.each([
    ['chat-completions', { reasoning_effort: 'high' }],
    ['responses', { reasoning: { effort: 'high', summary: 'auto' } }],
    ['messages', { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } }],
  ])('the playground asks for an effort on %s, and is answered', (wire, asked) =>
    admin('/dashboard/playground', async (page) => {
      const sent = page.waitForRequest((request) => new URL(request.url()).pathname.startsWith('/v1/'))
      await page.getByLabel('Wire').selectOption(wire)
      await page.getByLabel('Reasoning effort').selectOption('high')
      await page.getByRole('button', { name: 'Send' }).click()
      expect((await sent).postDataJSON()).toMatchObject(asked)
      await page.getByText('Done', { exact: true }).waitFor()
      await page.reload()
      expect(await page.getByLabel('Reasoning effort').inputValue()).toBe('high')
    }),
  )

  test('the playground needs no key: it has one of its own, which ends with the session and is kept nowhere', () =>
    visit('/dashboard/playground', async (page) => {
      await signIn(page)
      const made = page.waitForResponse('**/admin/api/playground/key')
      await page.getByLabel('Prompt', { exact: true }).fill('Say when')
      await page.getByRole('button', { name: 'Send' }).click()
      const { secret } = (await (await made).json()) as { secret: string }
      await page.getByText('Done', { exact: true }).waitFor()
      expect(await page.evaluate('JSON.stringify([sessionStorage, localStorage])')).not.toContain(secret)
      const ask = () =>
        page.evaluate(`fetch('/v1/models', { headers: { authorization: 'Bearer ${secret}' } }).then((r) => r.status)`)
      expect(await ask()).toBe(200)
      await page.goto(page.url().replace('/playground', '/keys'))
      await heading(page, 'Keys').waitFor()
      expect(await page.getByRole('link', { name: 'Playground', exact: true }).count()).toBe(1)
      await page.getByRole('button', { name: 'Sign out' }).click()
      await heading(page, 'Sign in').waitFor()
      expect(await ask()).toBe(401)
    }))

  test.each(['chat-completions', 'responses', 'messages'])(
    'the playground goes on over several turns on %s, with a system prompt, parameters, and what a tool gave',
    (wire) =>
      admin('/dashboard/playground', async (page) => {
        const bodies: string[] = []
        page.on('request', (request) => {
          if (new URL(request.url()).pathname.startsWith('/v1/')) bodies.push(request.postData() ?? '')
        })
        await page.getByLabel('Wire').selectOption(wire)
        await page.getByLabel('System prompt').fill('You keep the lock.')
        await page.getByLabel('Most output').fill('1,500')
        await page.getByLabel('Offer a tool').check()
        await page.getByLabel('Prompt', { exact: true }).fill('Use the tool get_weather for Phnom Penh')
        await page.getByRole('button', { name: 'Send' }).click()
        await page.getByRole('heading', { name: 'Calls get_weather' }).waitFor()
        await page.getByText('Done', { exact: true }).waitFor()
        await page.getByRole('button', { name: 'Go on' }).click()
        await page.getByLabel('Result of the tool').fill('31 degrees, rain at noon')
        await page.getByRole('button', { name: 'Send' }).click()
        await page.getByText('Done', { exact: true }).waitFor()
        const last = JSON.parse(bodies.at(-1) ?? '{}') as Record<string, unknown>
        const text = JSON.stringify(last)
        for (const said of ['You keep the lock.', 'Phnom Penh', 'get_weather', '31 degrees', '1500'])
          expect(text).toContain(said)
        await page.getByRole('button', { name: 'Start over' }).click()
        await page.getByLabel('Prompt', { exact: true }).waitFor()
        expect(await page.getByRole('heading', { name: 'Before' }).count()).toBe(0)
      }),
  )

  test('the playground shows a tool call, an image to the model, and an image by a model', () =>
    admin('/dashboard/playground', async (page) => {
      const { secret } = await issue()
      await page.getByLabel('Key', { exact: true }).fill(secret)
      await page.getByLabel('Offer a tool').check()
      await page.getByLabel('Image').setInputFiles({ name: 'lock.png', mimeType: 'image/png', buffer: ONE_PIXEL })
      await page.getByLabel('Prompt', { exact: true }).fill('Use the tool get_weather for Phnom Penh')
      await page.getByAltText('To be sent').waitFor()
      await page.getByRole('button', { name: 'Send' }).click()
      await page.getByRole('heading', { name: 'Calls get_weather' }).waitFor()
      await page.getByRole('button', { name: 'Go on' }).click()
      await page.getByText('Phnom Penh (with an image)').waitFor()
      await page.getByLabel('Wire').selectOption({ label: 'Images' })
      await page.getByLabel('Prompt', { exact: true }).fill('A lock on a canal')
      await page.getByLabel('Size').fill('256x256')
      await page.getByRole('button', { name: 'Send' }).click()
      await page.getByAltText('What the model drew').waitFor()
    }))

  test('the playground puts every piece of a call to its own, though calls come in turns', () =>
    admin('/dashboard/playground', async (page) => {
      const piece = (index: number, call: object) => ({
        choices: [{ index: 0, delta: { tool_calls: [{ index, ...call }] } }],
      })
      const begin = (index: number, name: string) =>
        piece(index, { id: `call_${index}`, type: 'function', function: { name, arguments: '' } })
      const go = (index: number, text: string) => piece(index, { function: { arguments: text } })
      const chunks = [
        ...[begin(0, 'first'), begin(1, 'second'), go(0, '{"a":'), go(1, '{"b":'), go(0, '1}'), go(1, '2}')],
        { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
      ]
      const frames = chunks.map((chunk) => `data: ${JSON.stringify({ id: 'c', model: 'm', ...chunk })}\n\n`)
      await page.route('**/v1/chat/completions', (route) =>
        route.fulfill({ contentType: 'text/event-stream', body: `${frames.join('')}data: [DONE]\n\n` }),
      )
      await page.getByLabel('Key', { exact: true }).fill('sk-sl-any')
      await page.getByRole('button', { name: 'Send' }).click()
      await page.getByText('Done', { exact: true }).waitFor()
      expect(await page.locator('.snippet pre').allTextContents()).toEqual(['{"a":1}', '{"b":2}'])
    }))

  test('the playground keeps what was asked and answered on the way back, without the key after a reload, and nothing after signing out', () =>
    visit('/dashboard/playground', async (page) => {
      await signIn(page)
      const { secret } = await issue()
      await page.getByLabel('Key', { exact: true }).fill(secret)
      await page.getByLabel('Wire').selectOption('messages')
      await page.getByLabel('Prompt', { exact: true }).fill('Say when')
      await page.getByLabel('Prompt', { exact: true }).press('Control+Enter')
      await page.getByText('Done', { exact: true }).waitFor()
      await page.getByRole('link', { name: 'See how this request went' }).click()
      await page.getByRole('heading', { name: 'One attempt' }).waitFor()
      const standing = async () => [
        await page.getByLabel('Key', { exact: true }).inputValue(),
        await page.getByLabel('Wire').inputValue(),
        await page.getByLabel('Prompt', { exact: true }).inputValue(),
      ]
      await page.goBack()
      await page.getByText('Done', { exact: true }).waitFor()
      expect(await standing()).toEqual([secret, 'messages', 'Say when'])
      await page.reload()
      await heading(page, 'Playground').waitFor()
      expect(await standing()).toEqual(['', 'messages', 'Say when'])
      await page.getByRole('button', { name: 'Sign out' }).click()
      await heading(page, 'Sign in').waitFor()
      expect(await page.evaluate('JSON.stringify(sessionStorage)')).toBe('{}')
    }))

  test('what one wrote in the playground is not there for another who has signed in since', () =>
    admin('/dashboard/playground', async (page) => {
      await page.getByLabel('Prompt', { exact: true }).fill('For nobody else')
      await page.reload()
      await heading(page, 'Playground').waitFor()
      expect(await page.getByLabel('Prompt', { exact: true }).inputValue()).toBe('For nobody else')
      await page.context().clearCookies()
      await page.context().addCookies(await joined('Next'))
      await page.reload()
      await heading(page, 'Playground').waitFor()
      expect(await page.getByLabel('Prompt', { exact: true }).inputValue()).not.toContain('For nobody else')
      expect(await page.evaluate('JSON.stringify(sessionStorage)')).toBe('{}')
    }))

  test('the playground says why a request failed in words that say what to do', () =>
    admin('/dashboard/playground', async (page) => {
      const refused = async (secret: string, words: string): Promise<void> => {
        await page.getByLabel('Key', { exact: true }).fill(secret)
        await page.getByRole('button', { name: 'Send' }).click()
        await page.getByRole('alert').getByText(words).waitFor()
      }
      await refused('sk-sl-wrong', 'The API key is not valid')
      await page.getByText("in the gateway's log only").waitFor()
      expect(await page.getByRole('link', { name: 'See how this request went' }).count()).toBe(0)
      // No header can hold these: a placeholder that was taken along, a space of no width.
      await refused('sk-sl-…', 'copy it again')
      await refused('sk-sl-\u200bwrong', 'copy it again')
      await page.context().setOffline(true)
      await refused('sk-sl-wrong', 'The gateway did not answer')
    }))

  test.each([
    [402, 'quota', { tokens_total: 1 }],
    [403, 'permission', { models: ['vendorB-4o'] }],
    [429, 'rate limit', { rpm: 1 }],
  ])('a request that is refused with %i leads from the playground to the check of %s', (status, check, more) =>
    admin('/dashboard/playground', async (page) => {
      const { secret } = await issue('refused', more)
      await page.getByLabel('Key', { exact: true }).fill(secret)
      await page.getByLabel('Model', { exact: true }).selectOption('vendorA-sonnet-5')
      const send = page.getByRole('button', { name: 'Send' })
      if (status === 429) {
        await send.click()
        await page.getByText('Done', { exact: true }).waitFor()
      }
      await send.click()
      await page.getByText(`HTTP ${status}`).waitFor()
      await page.getByRole('link', { name: 'See how this request went' }).click()
      await page.getByRole('alert').getByText(`at the check of ${check}`).waitFor()
    }),
  )

  test.each([
    ['chat-completions', '[[long:40]]', 'Cut: it came to the most output'],
    ['responses', '[[long:40]]', 'Cut: it came to the most output'],
    ['messages', '[[long:40]]', 'Cut: it came to the most output'],
    ['chat-completions', '[[refusal]]', 'A content filter withheld the answer'],
    ['messages', '[[refusal]]', 'The model refused to answer'],
  ])('an answer on %s of %s says that it is not whole', (wire, prompt, words) =>
    admin('/dashboard/playground', async (page) => {
      await page.getByLabel('Wire').selectOption(wire)
      await page.getByLabel('Model', { exact: true }).selectOption('vendorA-sonnet-5')
      await page.getByLabel('Most output').fill('20')
      await page.getByLabel('Prompt', { exact: true }).fill(prompt)
      await page.getByRole('button', { name: 'Send' }).click()
      await page.getByText(words).waitFor()
    }),
  )

  test('the playground sends a request once, however often it is asked to, and stops without losing the focus', () =>
    admin('/dashboard/playground', async (page) => {
      let sent = 0
      page.on('request', (request) => {
        if (request.url().endsWith('/v1/messages')) sent += 1
      })
      await page.getByLabel('Key', { exact: true }).fill((await issue()).secret)
      await page.getByLabel('Wire').selectOption('messages')
      const prompt = page.getByLabel('Prompt', { exact: true })
      await prompt.fill('[[pace:100]] [[long:200]]')
      for (let press = 0; press < 3; press++) await prompt.press('Control+Enter')
      const said = page.getByRole('status').filter({ hasText: 'first frame' })
      await said.getByText('Answering').waitFor()
      await page.getByRole('button', { name: 'Stop' }).focus()
      await page.keyboard.press('Enter')
      await said.getByText('Stopped').waitFor()
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Stop')
      expect(sent).toBe(1)
    }))
})

const ONE_PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
