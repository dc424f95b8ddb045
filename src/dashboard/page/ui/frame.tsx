// The frame around every page of someone who is signed in: navigation, who they are, the theme.

import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { useAction } from '../lib/resource.ts'
import { isAdmin, session, signOut } from '../lib/session.ts'
import { setTheme, type Theme, theme } from '../lib/theme.ts'
import { Icon, type IconName, Logo } from './icons.tsx'
import { Button, Failure } from './parts.tsx'

type Link = { path: string; label: string; icon: IconName; admin?: boolean }

const GROUPS: { label: string; links: Link[] }[] = [
  {
    label: 'Traffic',
    links: [
      { path: '/dashboard', label: 'Overview', icon: 'overview' },
      { path: '/dashboard/keys', label: 'Keys', icon: 'keys' },
      { path: '/dashboard/exchanges', label: 'Exchanges', icon: 'exchanges' },
      { path: '/dashboard/playground', label: 'Playground', icon: 'playground' },
    ],
  },
  {
    label: 'Gateway',
    links: [
      { path: '/dashboard/models', label: 'Models', icon: 'models' },
      { path: '/dashboard/accounts', label: 'Accounts', icon: 'accounts', admin: true },
      { path: '/dashboard/members', label: 'Members', icon: 'members', admin: true },
      { path: '/dashboard/audit', label: 'Audit', icon: 'audit', admin: true },
      { path: '/dashboard/settings', label: 'Settings', icon: 'settings' },
    ],
  },
]

export const Frame = ({ children }: { children: ComponentChildren }) => {
  const [open, setOpen] = useState(false)
  const { path } = useLocation()
  useEffect(() => setOpen(false), [path])
  const close = (): void => {
    setOpen(false)
    // Where the focus is will not be there any more.
    document.querySelector<HTMLElement>('.topbar button')?.focus()
  }
  useEffect(() => {
    if (!open) return
    const pressed = ({ key }: KeyboardEvent): void => {
      if (key === 'Escape') close()
    }
    // The page that is shown may be chosen again.
    const chosen = ({ target }: MouseEvent): void => {
      if (target instanceof Element && target.closest('.side a') !== null) setOpen(false)
    }
    addEventListener('keydown', pressed)
    addEventListener('click', chosen)
    return () => {
      removeEventListener('keydown', pressed)
      removeEventListener('click', chosen)
    }
  }, [open])
  return (
    <div class="frame">
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <div class="topbar">
        <Brand />
        <Button kind="quiet" size="icon" aria-label="Menu" aria-expanded={open} onClick={() => setOpen(!open)}>
          <Icon name="menu" />
        </Button>
      </div>
      {open && <button type="button" class="scrim" aria-label="Close the menu" onClick={close} />}
      <header class={open ? 'side open' : 'side'}>
        <div class="side-in">
          <Brand />
          <nav aria-label="Pages">
            {GROUPS.map(({ label, links }) => (
              <Group key={label} label={label} links={links} path={path} />
            ))}
            <a href="/docs">
              <Icon name="docs" />
              API reference
            </a>
          </nav>
          <Foot />
        </div>
      </header>
      <main class="main" id="main">
        {children}
      </main>
    </div>
  )
}

export const Brand = () => (
  <a class="brand" href="/dashboard">
    <Logo />
    sluice
  </a>
)

const Group = ({ label, links, path }: { label: string; links: Link[]; path: string }) => (
  <>
    <span class="group">{label}</span>
    {links
      .filter(({ admin }) => admin !== true || isAdmin.value)
      .map((link) => {
        const current = link.path === '/dashboard' ? path === link.path : path.startsWith(link.path)
        return (
          <a key={link.path} href={link.path} aria-current={current ? 'page' : undefined}>
            <Icon name={link.icon} />
            {link.label}
          </a>
        )
      })}
  </>
)

const Foot = () => {
  const member = session.value?.member
  const leaving = useAction(signOut)
  return (
    <div class="foot">
      {leaving.error && <Failure error={leaving.error} />}
      <div class="who">
        <span>
          <b>{member?.name}</b>
          <span class="muted small">{member?.role}</span>
        </span>
        <span class="row one" style={{ gap: 0 }}>
          <ThemeButton />
          <Button
            kind="quiet"
            size="icon"
            aria-label="Sign out"
            title="Sign out"
            busy={leaving.busy}
            onClick={() => leaving.run()}
          >
            <Icon name="out" />
          </Button>
        </span>
      </div>
      {session.value?.version && <span class="muted small">sluice {session.value.version}</span>}
    </div>
  )
}

const NEXT: Record<Theme, Theme> = { system: 'light', light: 'dark', dark: 'system' }
const THEME_ICON = { system: 'system', light: 'sun', dark: 'moon' } as const

/** Goes round system, light and dark. */
export const ThemeButton = () => {
  const label = `Theme: ${theme.value}. Change to ${NEXT[theme.value]}.`
  return (
    <Button kind="quiet" size="icon" aria-label={label} title={label} onClick={() => setTheme(NEXT[theme.value])}>
      <Icon name={THEME_ICON[theme.value]} />
    </Button>
  )
}
