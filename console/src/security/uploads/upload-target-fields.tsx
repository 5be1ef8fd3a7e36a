import { Autocomplete, Button, Collapse, Grid, Select, Stack, TextInput } from '@mantine/core'
import { useDebouncedValue, useDisclosure } from '@mantine/hooks'
import { IconChevronDown, IconChevronUp } from '@tabler/icons-react'
import { keepPreviousData } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { useWhenTyped } from '../../list/filters.tsx'
import { PROVIDER_NAMES, PROVIDERS } from '../../page/names.ts'
import type { Format, Provider, UploadTarget } from '../sending/upload-item.ts'
import { FORMAT_NAMES, FORMATS } from '../sending/upload-words.ts'

const TYPING_MS = 200
const SUGGESTIONS = 20
const route = getRouteApi('/signed-in/orgs/$org/security/uploads')
const TARGET_PAUSE_MS = 400

// The same rules as the API's, so that a field says what is wrong before files are hashed.
const REPOSITORY = /^(?!\s)[^/\p{Cc}]+(?:\/[^/\p{Cc}]+)+(?<!\s)$/u

const COMMIT = /^[0-9a-f]{7,40}$/
const CATEGORY = /^[A-Za-z0-9._/:-]*$/

type FieldsProps = {
  org: string
  target: UploadTarget
  onChange: (changes: Partial<UploadTarget>) => void
  repositoryRef: React.Ref<HTMLInputElement>
  /** Whether an empty repository is shown as a problem. */
  isAsked: boolean
}

/** What the reports are about: repository, branch, commit and format. */
export function UploadTargetFields({ org, target, onChange, repositoryRef, isAsked }: FieldsProps) {
  const { names, isUnknown } = useRepositoryNames(org, target.repository)
  const [isMore, { toggle }] = useDisclosure(Boolean(target.category || target.provider))
  const problems = targetProblems(target)
  const isShown = isAsked || target.repository.includes('/')
  return (
    <Stack gap="xs">
      <Grid gap="sm">
        <Grid.Col span={{ base: 12, sm: 6, lg: 4 }}>
          <Autocomplete
            ref={repositoryRef}
            label="Repository"
            placeholder="owner/name"
            description={isUnknown ? 'Not known yet. Its first report adds it.' : 'Search, or write a new one.'}
            required
            withAsterisk={false}
            maxLength={300}
            data={names}
            filter={({ options }) => options}
            value={target.repository}
            onChange={(repository) => onChange({ repository })}
            error={isShown && problems.repository}
            comboboxProps={{ shadow: 'md' }}
          />
        </Grid.Col>
        <Grid.Col span={{ base: 12, sm: 6, lg: 3 }}>
          <TextInput
            label="Branch or tag"
            description="Default: the tracked branch."
            maxLength={255}
            value={target.ref ?? ''}
            onChange={({ currentTarget }) => onChange({ ref: currentTarget.value || undefined })}
          />
        </Grid.Col>
        <Grid.Col span={{ base: 12, sm: 6, lg: 3 }}>
          <TextInput
            label="Commit"
            description="Optional. The SHA that was scanned."
            maxLength={40}
            value={target.commit ?? ''}
            onChange={({ currentTarget }) =>
              onChange({ commit: currentTarget.value.trim().toLowerCase() || undefined })
            }
            error={problems.commit}
          />
        </Grid.Col>
        <Grid.Col span={{ base: 12, sm: 6, lg: 2 }}>
          <Select
            label="Format"
            description="Of all files."
            data={[{ value: 'auto', label: 'Detect' }, ...named(FORMATS, FORMAT_NAMES)]}
            value={target.format ?? 'auto'}
            allowDeselect={false}
            onChange={(format) => onChange({ format: format === 'auto' ? undefined : (format as Format) })}
          />
        </Grid.Col>
      </Grid>
      <Collapse expanded={isMore}>
        <Grid gap="sm">
          <Grid.Col span={{ base: 12, sm: 6, lg: 4 }}>
            <Select
              label="Code host"
              description="If the name is on more than one."
              placeholder="Any"
              clearable
              data={named(PROVIDERS, PROVIDER_NAMES)}
              value={target.provider ?? null}
              onChange={(provider) => onChange({ provider: (provider as Provider | null) ?? undefined })}
            />
          </Grid.Col>
          <Grid.Col span={{ base: 12, sm: 6, lg: 4 }}>
            <TextInput
              label="Category"
              description="Separates several reports of one scanner."
              maxLength={100}
              value={target.category ?? ''}
              onChange={({ currentTarget }) => onChange({ category: currentTarget.value.trim() || undefined })}
              error={problems.category}
            />
          </Grid.Col>
        </Grid>
      </Collapse>
      <Button
        variant="subtle"
        color="gray"
        size="compact-sm"
        style={{ alignSelf: 'flex-start' }}
        aria-expanded={isMore}
        rightSection={isMore ? <IconChevronUp size={14} aria-hidden /> : <IconChevronDown size={14} aria-hidden />}
        onClick={toggle}
      >
        {isMore ? 'Fewer options' : 'More options'}
      </Button>
    </Stack>
  )
}

/** The repositories whose names contain the text. One that nothing names yet can be written, too. */
function useRepositoryNames(org: string, text: string): { names: string[]; isUnknown: boolean } {
  const [search] = useDebouncedValue(text.trim(), TYPING_MS)
  const query = { limit: SUGGESTIONS, ...(search && { search }) }
  const params = { path: { org }, query }
  const { data, isPlaceholderData } = api.useQuery(
    'get',
    '/app/api/orgs/{org}/repositories',
    { params },
    { placeholderData: keepPreviousData },
  )
  const names = [...new Set(data?.data.map(({ full_name }) => full_name))]
  const isComplete = data !== undefined && !isPlaceholderData && search === text.trim()
  const isUnknown = isComplete && search.includes('/') && !names.some((name) => isSame(name, search))
  return { names, isUnknown }
}

function isSame(name: string, other: string): boolean {
  return name.toLowerCase() === other.toLowerCase()
}

function named<Value extends string>(values: readonly Value[], names: Record<Value, string>) {
  return values.map((value) => ({ value, label: names[value] }))
}

/** What the reports are about. The address remembers it, so that it can be shared and reloaded. */
export function useUploadTarget(): [UploadTarget, (changes: Partial<UploadTarget>) => void] {
  const { to = '', host, ref, commit, format, category } = route.useSearch()
  const navigate = route.useNavigate()
  const [target, setTarget] = useState<UploadTarget>({ repository: to, provider: host, ref, commit, format, category })
  const remember = useWhenTyped(({ repository, provider, ...rest }: UploadTarget) => {
    const fields = { ...rest, to: repository || undefined, host: provider }
    void navigate({ search: (before) => ({ ...before, ...fields }), replace: true })
  }, TARGET_PAUSE_MS)
  const change = (changes: Partial<UploadTarget>) => {
    const next = { ...target, ...changes }
    setTarget(next)
    remember(next)
  }
  return [target, change]
}

type Problems = Partial<Record<'repository' | 'commit' | 'category', string>>

/** What is wrong with the fields of a target. Nothing if files can be sent with it. */
export function targetProblems({ repository, commit = '', category = '' }: UploadTarget): Problems {
  return {
    ...(!REPOSITORY.test(repository) && { repository: 'Write it as owner/name.' }),
    ...(commit !== '' && !COMMIT.test(commit) && { commit: 'Use 7 to 40 hexadecimal digits.' }),
    ...(!CATEGORY.test(category) && { category: 'Use letters, digits and . _ / : -' }),
  }
}
