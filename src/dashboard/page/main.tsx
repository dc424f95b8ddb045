// The page: who is signed in decides between the way in and the frame with its pages.

import 'uplot/dist/uPlot.min.css'
import './style/base.css'
import './style/frame.css'
import './style/parts.css'
import './style/tables.css'
import './style/pages.css'
import './lib/scroll.ts'
import { render } from 'preact'
import { useEffect } from 'preact/hooks'
import { LocationProvider, Route, Router, useLocation } from 'preact-iso/router'
import { call } from './lib/api.ts'
import { expired, isAdmin, loadSession, session, sessionError } from './lib/session.ts'
import { Accounts } from './pages/accounts.tsx'
import { Audit } from './pages/audit.tsx'
import { Docs } from './pages/docs.tsx'
import { Invite, Setup, SignIn, SignInAgain } from './pages/entry.tsx'
import { ExchangePage } from './pages/exchange.tsx'
import { Exchanges } from './pages/exchanges.tsx'
import { Holder } from './pages/holder.tsx'
import { KeyPage } from './pages/key.tsx'
import { Keys } from './pages/keys.tsx'
import { Members } from './pages/members.tsx'
import { Models } from './pages/models.tsx'
import { Overview } from './pages/overview.tsx'
import { Playground } from './pages/playground.tsx'
import { FactorDue } from './pages/second-factor.tsx'
import { Settings } from './pages/settings.tsx'
import { Start } from './pages/start.tsx'
import { Frame } from './ui/frame.tsx'
import { Empty, Failure, PageHead } from './ui/parts.tsx'
import { Proof } from './ui/proof.tsx'

const Page = () => {
  const { path } = useLocation()
  if (path === '/usage') return <Holder />
  if (path === '/docs' || path.startsWith('/docs/')) return <Docs />
  return <Dashboard path={path} />
}

const Dashboard = ({ path }: { path: string }) => {
  useEffect(() => void loadSession(), [])
  if (path === '/dashboard/invite') return <Invite />
  const who = session.value
  if (sessionError.value) {
    return (
      <main class="alone">
        <Failure error={sessionError.value} retry={loadSession} />
      </main>
    )
  }
  if (who === undefined) return <main class="alone" aria-busy="true" />
  if (who.setup_needed) return <Setup />
  if (!who.signed_in || who.member === null) return <SignIn />
  if (who.second_factor_due) {
    return (
      <>
        <FactorDue />
        <Proof />
        {expired.value && <SignInAgain />}
      </>
    )
  }
  return (
    <>
      <Frame key={who.member.id}>
        <Router onRouteChange={arrive}>
          <Route path="/dashboard" component={Overview} />
          <Route path="/dashboard/setup" component={SetUp} />
          <Route path="/dashboard/start" component={isAdmin.value ? Start : Missing} />
          <Route path="/dashboard/keys" component={Keys} />
          <Route path="/dashboard/keys/:id" component={KeyPage} />
          <Route path="/dashboard/exchanges" component={Exchanges} />
          <Route path="/dashboard/exchanges/:id" component={ExchangePage} />
          <Route path="/dashboard/playground" component={Playground} />
          <Route path="/dashboard/models" component={Models} />
          <Route path="/dashboard/accounts" component={isAdmin.value ? Accounts : Missing} />
          <Route path="/dashboard/members" component={isAdmin.value ? Members : Missing} />
          <Route path="/dashboard/audit" component={isAdmin.value ? Audit : Missing} />
          <Route path="/dashboard/settings" component={Settings} />
          <Route default component={Missing} />
        </Router>
      </Frame>
      <Proof />
      {expired.value && <SignInAgain />}
    </>
  )
}

/** A new page has its heading read. */
const arrive = (): void => {
  document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true })
}

/** The setup link once that is done, also where it is opened again from the terminal it still stands in. */
const SetUp = () => {
  const { route } = useLocation()
  useEffect(() => {
    const go = (isEmpty: boolean): void => route(isEmpty ? '/dashboard/start' : '/dashboard', true)
    if (!isAdmin.value) return go(false)
    call('accounts.list').then(
      ({ items }) => go(items.length === 0),
      () => go(false),
    )
  }, [])
  return null
}

const Missing = () => (
  <>
    <PageHead title="Not found" />
    <div class="card">
      <Empty title="There is no such page">
        <p>It may have moved, or it needs rights you do not have.</p>
        <a class="button" href="/dashboard">
          To the overview
        </a>
      </Empty>
    </div>
  </>
)

const root = document.getElementById('page')
if (root !== null) {
  render(
    <LocationProvider scope={/^\/(dashboard|usage|docs)(\/|$|\?)/}>
      <Page />
    </LocationProvider>,
    root,
  )
}
