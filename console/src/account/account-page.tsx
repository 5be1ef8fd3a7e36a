import { NavLink, Stack } from '@mantine/core'
import { IconArrowLeft } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useSession } from '../api/session.ts'
import { Page } from '../page/page.tsx'
import { pages } from '../page/pages.ts'
import { AppFrame } from '../shell/app-frame.tsx'
import { lastOrganization } from '../shell/last-organization.ts'
import { Memberships } from './memberships.tsx'
import { Passkeys } from './passkeys.tsx'
import { Password } from './password.tsx'
import { Profile } from './profile.tsx'
import { Sessions } from './sessions.tsx'
import { TwoFactor } from './two-factor.tsx'

const SECTIONS = [
  { id: 'profile', title: 'Profile' },
  { id: 'organizations', title: 'Organizations' },
  { id: 'password', title: 'Password' },
  { id: 'two-factor', title: 'Two-factor authentication' },
  { id: 'passkeys', title: 'Passkeys' },
  { id: 'sessions', title: 'Sessions' },
]

/** What users see and change about their own account. It belongs to no organization. */
export function AccountPage() {
  return (
    <AppFrame top={<BackLink />} links={<SectionLinks />}>
      <Page title="Account" description="Your name, how you sign in, and where you are signed in.">
        <Stack gap={40} maw={720} mx={0}>
          <Profile />
          <Memberships />
          <Password />
          <TwoFactor />
          <Passkeys />
          <Sessions />
        </Stack>
      </Page>
    </AppFrame>
  )
}

function BackLink() {
  const organization = lastOrganization(useSession().organizations)
  if (organization === undefined) return null
  return (
    <NavLink
      renderRoot={(props) => <Link {...pages.home(organization.slug)} {...props} />}
      label={organization.name}
      leftSection={<IconArrowLeft size={17} aria-hidden />}
      aria-label={`Back to ${organization.name}`}
    />
  )
}

function SectionLinks() {
  return (
    <Stack gap={2}>
      {SECTIONS.map(({ id, title }) => (
        <NavLink key={id} href={`#${id}`} label={title} />
      ))}
    </Stack>
  )
}
