import { Button, Code, Stack, Text } from '@mantine/core'
import { IconFilterOff, IconPackages } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import type { Schema } from '../../api/client.ts'
import { useOrganization, usePermission } from '../../api/session.ts'
import { type Column, DataList } from '../../list/data-list.tsx'
import { ChoiceFilter, Filters, RepositoryFilter, TextFilter } from '../../list/filters.tsx'
import { useCursorList, useListPage } from '../../list/list-page.ts'
import { ButtonLink, Link } from '../../page/link.tsx'
import { formatCount } from '../../page/numbers.ts'
import { Page } from '../../page/page.tsx'
import { pages } from '../../page/pages.ts'
import { oneLine } from '../../page/reported-text.ts'
import { RepositoryLink } from '../../page/repository.tsx'
import { Empty } from '../../page/states.tsx'
import { Time } from '../../page/time.tsx'
import { directText } from '../facts/inventory-words.ts'
import { type ComponentSearch, componentsQuery } from '../facts/queries.ts'

const route = getRouteApi('/signed-in/orgs/$org/inventory')

const DIRECT = [
  { value: 'yes', label: 'Direct' },
  { value: 'no', label: 'Transitive' },
] as const
const PRESENT = [
  { value: 'any', label: 'Present or removed' },
  { value: 'false', label: 'Removed' },
] as const

type Component = Schema<'Component'>

/** The packages that bills of materials contain. */
export function ComponentsPage() {
  const { slug: org } = useOrganization()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const list = useCursorList(componentsQuery(org, search))
  const { isFiltered, filter, clear } = useListPage(search)
  return (
    <Page
      title="Inventory"
      description="The packages that the newest bills of materials (SBOMs) contain, those that were seen first most recently at the top."
    >
      <ComponentFilters search={search} onChange={filter} onClear={clear} />
      <DataList
        of="components"
        list={list}
        columns={componentColumns(org)}
        rowKey={({ id }) => id}
        onOpen={({ id }) => void navigate(pages.component(org, id))}
        empty={isFiltered ? <NothingFound onClear={clear} /> : <NothingRead />}
      />
    </Page>
  )
}

type FiltersProps = {
  search: ComponentSearch
  onChange: (changes: Partial<ComponentSearch>) => void
  onClear: () => void
}

function ComponentFilters({ search, onChange, onClear }: FiltersProps) {
  return (
    <Filters isFiltered={Object.values(search).some(Boolean)} onClear={onClear}>
      <TextFilter
        label="Package"
        placeholder="log4j-core or log4j*"
        value={search.package}
        onChange={(name) => onChange({ package: name })}
      />
      <TextFilter
        label="Version"
        placeholder="Exactly"
        value={search.version}
        onChange={(version) => onChange({ version })}
      />
      <TextFilter
        label="Package URL"
        placeholder="pkg:npm/lodash"
        value={search.purl}
        onChange={(purl) => onChange({ purl })}
      />
      <TextFilter
        label="Ecosystem"
        placeholder="PyPI, Maven or deb"
        value={search.ecosystem}
        onChange={(ecosystem) => onChange({ ecosystem })}
      />
      <TextFilter
        label="License"
        placeholder="SPDX id, such as MIT"
        value={search.license}
        onChange={(license) => onChange({ license })}
      />
      <RepositoryFilter
        value={search.repository}
        onChange={(repository) => onChange({ repository, provider: undefined })}
      />
      <ChoiceFilter
        label="Dependency"
        value={search.direct}
        options={DIRECT}
        onChange={(direct) => onChange({ direct })}
      />
      <ChoiceFilter
        label="Presence"
        width={170}
        placeholder="Present"
        value={search.present}
        options={PRESENT}
        onChange={(present) => onChange({ present })}
      />
    </Filters>
  )
}

function NothingFound({ onClear }: { onClear: () => void }) {
  return (
    <Empty
      icon={IconFilterOff}
      title="No components match the filters"
      actions={
        <Button variant="default" onClick={onClear}>
          Show all components
        </Button>
      }
    >
      A package name is matched as a whole, or by its start with <Code>*</Code> at the end. Only bills of materials that
      were sent are searched.
    </Empty>
  )
}

/** Without documents, it is not known what is inside. */
function NothingRead() {
  const { slug: org } = useOrganization()
  const mayUpload = usePermission('upload_security_reports')
  return (
    <Empty
      icon={IconPackages}
      title="No bill of materials was read yet"
      actions={
        mayUpload && (
          <ButtonLink {...pages.uploads(org)} variant="filled">
            Upload a bill of materials
          </ButtonLink>
        )
      }
    >
      So it is not known what your software contains. Send a CycloneDX or SPDX file in JSON with the job that builds,
      for example <Code>syft . -o cyclonedx-json=sbom.json</Code> and <Code>shiplock report --sbom sbom.json</Code>.
      Documents that were read before the inventory existed have to be sent again.
    </Empty>
  )
}

function componentColumns(org: string): Column<Component>[] {
  return [
    {
      key: 'package',
      header: 'Package',
      width: 'minmax(0, 3fr)',
      cell: (component) => <ComponentName org={org} component={component} />,
    },
    { key: 'version', header: 'Version', width: 'minmax(0, 1fr)', cell: ({ version }) => <Short text={version} /> },
    {
      key: 'licenses',
      header: 'Licenses',
      width: 'minmax(0, 1fr)',
      from: 'md',
      cell: ({ licenses }) => <Short text={licenses.join(', ') || null} />,
    },
    {
      key: 'direct',
      header: 'Dependency',
      width: '6.5rem',
      from: 'lg',
      cell: ({ direct }) => <Short text={directText(direct)} />,
    },
    {
      key: 'repositories',
      header: 'Repositories',
      width: 'minmax(0, 1.5fr)',
      from: 'sm',
      cell: ({ repositories }) => <Repositories repositories={repositories} />,
    },
    {
      key: 'seen',
      header: 'First seen',
      width: '7.5rem',
      from: 'xs',
      align: 'end',
      cell: ({ first_seen_at }) => <Time at={first_seen_at} />,
    },
  ]
}

function ComponentName({ org, component }: { org: string; component: Component }) {
  const { id, name, ecosystem, type, purl } = component
  return (
    <Stack gap={0}>
      <Link {...pages.component(org, id)} fw={500} size="sm" truncate>
        <bdi>{oneLine(name, 300) || 'Unnamed'}</bdi>
      </Link>
      <Text size="xs" c="dimmed" truncate>
        <bdi>{[ecosystem ?? type, purl].filter((part) => part !== null).join(' · ')}</bdi>
      </Text>
    </Stack>
  )
}

function Repositories({ repositories: { count, names } }: Pick<Component, 'repositories'>) {
  const [first] = names
  if (first === undefined)
    return (
      <Text size="sm" c="dimmed">
        No longer present
      </Text>
    )
  return (
    <Text size="sm" truncate title={names.join(', ')} component="div">
      <RepositoryLink name={first} />
      {count > 1 && ` and ${formatCount(count - 1)} more`}
    </Text>
  )
}

function Short({ text }: { text: string | null }) {
  if (text === null)
    return (
      <Text size="sm" c="dimmed">
        Not stated
      </Text>
    )
  return (
    <Text size="sm" truncate title={oneLine(text, 300)}>
      <bdi>{oneLine(text, 100)}</bdi>
    </Text>
  )
}
