import { Group, Select, Stack, Text } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { api, type Schema } from '../../api/client.ts'
import { useOrganization } from '../../api/session.ts'
import { pages } from '../../page/pages.ts'
import { QueryView } from '../../page/states.tsx'
import { formatTime, Time } from '../../page/time.tsx'
import classes from '../dry-run/dry-run-results.module.css'
import { CompareFiles } from '../editor/lazy-editor.tsx'
import { ModeBadge } from '../facts/compliance-parts.tsx'
import type { PolicyWithFile } from '../facts/vocabulary.ts'

type Version = Schema<'PolicyVersion'>
type VersionsTabProps = { policy: PolicyWithFile; earlier: string | undefined; later: string | undefined }

/** Who applied which version and why, and two versions side by side. */
export default function PolicyVersionsTab({ policy, earlier, later }: VersionsTabProps) {
  const { slug: org } = useOrganization()
  const query = api.useQuery('get', '/app/api/orgs/{org}/policies/{id}/versions', {
    params: { path: { org, id: policy.id } },
  })
  return (
    <QueryView query={query} of="versions">
      {({ data: versions }) => (
        <Stack gap="lg">
          {versions.length > 1 && <Comparison policy={policy} versions={versions} asked={[earlier, later]} />}
          <Stack component="ul" gap={0} className={classes.list} aria-label="Versions">
            {versions.map((version) => (
              <VersionLine key={version.version} version={version} isCurrent={version.version === policy.version} />
            ))}
          </Stack>
        </Stack>
      )}
    </QueryView>
  )
}

function VersionLine({ version, isCurrent }: { version: Version; isCurrent: boolean }) {
  return (
    <li className={classes.result}>
      <Group gap="sm">
        <Text size="sm" fw={500}>
          Version {version.version}
          {isCurrent && ' (current)'}
        </Text>
        <ModeBadge mode={version.mode} />
        <Text size="sm" c="dimmed">
          <Time at={version.created_at} />
          {version.changed_by && ` by ${version.changed_by.name}`}
        </Text>
      </Group>
      {version.reason !== null && (
        <Text size="sm" mt={4}>
          {version.reason}
        </Text>
      )}
    </li>
  )
}

type ComparisonProps = {
  policy: PolicyWithFile
  versions: Version[]
  asked: [earlier: string | undefined, later: string | undefined]
}

function Comparison({ policy, versions, asked }: ComparisonProps) {
  const { slug: org } = useOrganization()
  const navigate = useNavigate()
  const numbers = versions.map(({ version }) => version)
  const later = numbers.find((version) => String(version) === asked[1]) ?? policy.version
  const earlier = numbers.find((version) => String(version) === asked[0]) ?? Math.max(later - 1, 1)
  const choose = (chosen: { earlier?: string; later?: string }) =>
    void navigate({
      ...pages.policy(org, policy.id),
      search: { tab: 'versions', earlier: `${earlier}`, later: `${later}`, ...chosen },
      replace: true,
    })
  const options = versions.map(({ version, created_at }) => ({
    value: `${version}`,
    label: `Version ${version}, ${formatTime(created_at)}`,
  }))
  return (
    <Stack gap="sm">
      <Group gap="sm">
        <Select
          label="Earlier version"
          w={290}
          data={options}
          value={`${earlier}`}
          onChange={(value) => choose({ earlier: value ?? '' })}
          allowDeselect={false}
        />
        <Select
          label="Later version"
          w={290}
          data={options}
          value={`${later}`}
          onChange={(value) => choose({ later: value ?? '' })}
          allowDeselect={false}
        />
      </Group>
      <ComparedFiles policy={policy} earlier={earlier} later={later} />
    </Stack>
  )
}

function ComparedFiles({ policy, earlier, later }: { policy: PolicyWithFile; earlier: number; later: number }) {
  const { slug: org } = useOrganization()
  const query = api.useQuery('get', '/app/api/orgs/{org}/policies/{id}/compare', {
    params: { path: { org, id: policy.id }, query: { from: earlier, to: later } },
  })
  return (
    <QueryView query={query} of="two versions">
      {({ data: { from, to, differences } }) =>
        from.file === null || to.file === null ? (
          <Text size="sm">The file of one of these versions was not stored.</Text>
        ) : (
          <Stack gap="xs">
            <Text size="sm" c="dimmed">
              {differences.length === 0
                ? 'Only comments or the layout differ.'
                : `Different: ${differences.map(({ path }) => path).join(', ')}.`}
            </Text>
            <CompareFiles
              before={{ label: `Version ${from.version}`, text: from.file }}
              after={{ label: `Version ${to.version}`, text: to.file }}
            />
          </Stack>
        )
      }
    </QueryView>
  )
}
