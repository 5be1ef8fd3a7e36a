import { useMantineColorScheme } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import {
  IconBug,
  IconBuilding,
  IconDeviceDesktop,
  IconExternalLink,
  IconKeyboard,
  IconLogout,
  IconMoon,
  IconPlayerPlay,
  IconSun,
  IconUser,
} from '@tabler/icons-react'
import { useNavigate, useParams } from '@tanstack/react-router'
import type { ComponentType } from 'react'
import { api } from '../api/client.ts'
import { useSession } from '../api/session.ts'
import { type PageAddress, pages } from '../page/pages.ts'
import { lastOrganization, MAIN_PAGES } from './navigation.ts'
import { showShortcuts } from './shown-dialog.ts'
import { useSignOut } from './sign-out.ts'

export type Command = {
  id: string
  group: string
  label: string
  icon: ComponentType<{ size?: number; 'aria-hidden'?: boolean }>
  /** Keys that do the same. */
  keys?: string
  run: () => void
}

/** The commands that fit the text: pages, repositories, ids, organizations and actions. */
export function useCommands(text: string): Command[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const fits = ({ group, label }: Command) => words.every((word) => `${group} ${label}`.toLowerCase().includes(word))
  const { org } = useParams({ strict: false })
  const { organizations } = useSession()
  const current = org ?? lastOrganization(organizations)?.slug
  const [pages, found, others] = [usePages(current), useFound(current, text.trim()), useActions(current)]
  return [...pages.filter(fits), ...found, ...others.filter(fits)]
}

function usePages(org: string | undefined): Command[] {
  const navigate = useNavigate()
  if (org === undefined) return []
  return MAIN_PAGES.map(({ label, page, icon, key }) => ({
    id: label,
    group: 'Pages',
    label,
    icon,
    keys: `g ${key}`,
    run: () => void navigate(page(org)),
  }))
}

type Page = PageAddress & { search?: object }

const IDS: [pattern: RegExp, what: string, page: (org: string, id: string) => Page][] = [
  [/^run_\w{26}$/, 'run', pages.run],
  [/^dep_\w{26}$/, 'deployment', pages.deployment],
  [/^chg_\w{26}$/, 'change', pages.change],
  [/^(?:sha256:)?[0-9a-f]{64}$/i, 'digest', (org, id) => pages.digest(org, id.slice(-64).toLowerCase())],
  [/^(?:CVE-\d{4}-\d{4,19}|GHSA(?:-\w{4}){3})$/i, 'vulnerability', pages.vulnerability],
  [/^pkg:[\w.+-]+\/\S+$/i, 'components of', (org, purl) => ({ ...pages.components(org), search: { purl } })],
]
const TYPED_MIN = 2
const TYPING_MS = 150
const REPOSITORIES_MAX = 5

/** What only the server knows: repositories, and objects by their ids. */
function useFound(org: string | undefined, text: string): Command[] {
  const navigate = useNavigate()
  const [search] = useDebouncedValue(text, TYPING_MS)
  const { data } = api.useQuery(
    'get',
    '/app/api/orgs/{org}/repositories',
    { params: { path: { org: org ?? '' }, query: { search, limit: REPOSITORIES_MAX } } },
    { enabled: org !== undefined && search.length >= TYPED_MIN, placeholderData: (before) => before },
  )
  if (org === undefined || text.length < TYPED_MIN) return []
  const byId = IDS.filter(([pattern]) => pattern.test(text)).map(([, what, page]) => ({
    id: text,
    group: 'Ids',
    label: `Open ${what} ${text}`,
    icon: IconExternalLink,
    run: () => void navigate(page(org, text)),
  }))
  const places = [
    ['Runs', pages.runs, IconPlayerPlay],
    ['Issues', pages.issues, IconBug],
  ] as const
  const names = data?.data.map(({ full_name }) => full_name) ?? []
  const fitting = names.filter((name) => name.toLowerCase().includes(text.toLowerCase()))
  const repositories = fitting.flatMap((name) =>
    places.map(([what, page, icon]) => ({
      id: `${what} ${name}`,
      group: 'Repositories',
      label: `${what} of ${name}`,
      icon,
      run: () => void navigate({ ...page(org), search: { repository: name } }),
    })),
  )
  return [...byId, ...repositories]
}

function useActions(org: string | undefined): Command[] {
  const { organizations } = useSession()
  const { setColorScheme } = useMantineColorScheme()
  const navigate = useNavigate()
  const signOut = useSignOut()
  const switches = organizations
    .filter(({ slug }) => slug !== org)
    .map(({ slug, name }) => ({
      id: `org ${slug}`,
      group: 'Organizations',
      label: `Switch to ${name}`,
      icon: IconBuilding,
      run: () => void navigate(pages.home(slug)),
    }))
  const action = (label: string, icon: Command['icon'], run: () => void) => ({
    id: label,
    group: 'Actions',
    label,
    icon,
    run,
  })
  return [
    ...switches,
    action('Account', IconUser, () => void navigate({ to: '/account' })),
    { ...action('Keyboard shortcuts', IconKeyboard, showShortcuts), keys: '?' },
    action('Use the light theme', IconSun, () => setColorScheme('light')),
    action('Use the dark theme', IconMoon, () => setColorScheme('dark')),
    action('Use the theme of the system', IconDeviceDesktop, () => setColorScheme('auto')),
    action('Sign out', IconLogout, signOut),
  ]
}
