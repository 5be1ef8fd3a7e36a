import { Box, List, Paper, Stack, Text, Title } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { api, type Schema } from '../../api/client.ts'
import { useOrganization } from '../../api/session.ts'
import { formatCount } from '../../page/numbers.ts'
import { matchesGlob } from './glob.ts'

type Patterns = { environment: string; repository: string; branch: string }
type Deployment = Schema<'Deployment'>

const TYPING_MS = 150
const SHOWN_MAX = 5
/** On a narrow screen the form goes on below: it must not move while somebody presses its button. */
const LIST_HEIGHT = `calc(${SHOWN_MAX + 1} * var(--mantine-font-size-sm) * var(--mantine-line-height))`

/** Which of the last deployments the patterns match, while they are typed. */
export function GatePreview(patterns: Patterns) {
  const { slug: org } = useOrganization()
  const [{ environment, repository, branch }] = useDebouncedValue(patterns, TYPING_MS)
  const { data } = api.useQuery('get', '/app/api/orgs/{org}/deployments', {
    params: { path: { org }, query: { limit: 100 } },
  })
  const deployments = data?.data ?? []
  const covered = deployments.filter((deployment) => covers({ environment, repository, branch }, deployment))
  const environments = [...new Set(covered.map((deployment) => deployment.environment))].toSorted()
  return (
    <Paper p="md" component="section" aria-labelledby="preview" style={{ alignSelf: 'flex-start' }}>
      <Stack gap="xs">
        <Title order={2} id="preview">
          Matches
        </Title>
        <Text size="sm" role="status">
          {describe(covered.length, deployments.length)}
        </Text>
        <Box mih={LIST_HEIGHT}>
          {environments.length > 0 && (
            <List size="sm" aria-label="Environments">
              {environments.slice(0, SHOWN_MAX).map((name) => (
                <List.Item key={name}>{name}</List.Item>
              ))}
            </List>
          )}
          {environments.length > SHOWN_MAX && (
            <Text size="sm" c="dimmed">
              and {formatCount(environments.length - SHOWN_MAX)} more environments
            </Text>
          )}
        </Box>
        <Text size="xs" c="dimmed">
          <code>*</code> matches within one part of a path, <code>**</code> any number of parts, <code>?</code> one
          character, and <code>{'{a,b}'}</code> one of several.
        </Text>
      </Stack>
    </Paper>
  )
}

function describe(covered: number, total: number): string {
  if (total === 0) return 'There are no deployments yet to compare with.'
  return `${formatCount(covered)} of the last ${formatCount(total)} deployments.`
}

function covers({ environment, repository, branch }: Patterns, deployment: Deployment): boolean {
  const names = [deployment.repository, deployment.repository_full_name].flatMap((name) => name ?? [])
  return (
    matchesGlob(environment.trim(), deployment.environment) &&
    (repository.trim() === '' ||
      names.some((name) => matchesGlob(repository.trim().toLowerCase(), name.toLowerCase()))) &&
    (branch.trim() === '' || (deployment.branch !== null && matchesGlob(branch.trim(), deployment.branch)))
  )
}
