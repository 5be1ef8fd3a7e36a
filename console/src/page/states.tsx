import {
  Alert,
  Box,
  Button,
  Center,
  Group,
  Skeleton,
  Stack,
  Text,
  ThemeIcon,
  Title,
  VisuallyHidden,
} from '@mantine/core'
import { IconAlertTriangle, IconLock } from '@tabler/icons-react'
import type { UseQueryResult } from '@tanstack/react-query'
import { Component, type ComponentType, type ReactNode } from 'react'
import { type ApiError, asApiError, UnreachableError } from '../api/api-error.ts'
import { PERMISSION_NAMES } from './names.ts'
import { formatDuration } from './time.tsx'

type EmptyProps = {
  icon: ComponentType<{ size?: number }>
  title: string
  /** What to do next. */
  children?: ReactNode
  /** Buttons or links. */
  actions?: ReactNode
  /** 1 where nothing else is on the page. */
  level?: 1 | 2
}

/** Nothing is there yet, or no row matches the filters: says what to do next. */
export function Empty({ icon: Icon, title, children, actions, level = 2 }: EmptyProps) {
  return (
    <Center py={56} px="md">
      <Stack align="center" gap="xs" maw={440}>
        <ThemeIcon variant="light" color="gray" size={44} radius="xl" aria-hidden>
          <Icon size={22} />
        </ThemeIcon>
        <Title order={level} ta="center">
          {title}
        </Title>
        {children && (
          <Text c="dimmed" size="sm" ta="center" component="div">
            {children}
          </Text>
        )}
        {actions && <Group mt="xs">{actions}</Group>}
      </Stack>
    </Center>
  )
}

type ProblemProps = {
  error: unknown
  /** What could not be done: "The runs could not be loaded". */
  title: string
  retry?: (() => void) | undefined
}

/** What went wrong, and what to do. Somebody who lacks a permission learns which one. */
export function Problem({ error, title, retry }: ProblemProps) {
  const response = asApiError(error)
  if (response?.code === 'insufficient_permission')
    return <Forbidden permission={response.details.requiredPermission} />
  if (response !== null && (response.status === 404 || isOfAnotherForm(response)))
    return (
      <Empty icon={IconAlertTriangle} title="Not found">
        It does not exist, it was deleted, or it belongs to another organization.
      </Empty>
    )
  return (
    <Alert color="red" variant="light" icon={<IconAlertTriangle />} title={title} role="alert">
      <Stack gap="sm" align="flex-start">
        <Text size="sm">{describeProblem(error)}</Text>
        {retry && (
          <Button size="xs" variant="default" onClick={retry}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  )
}

/** The address holds an id that no object can have. */
function isOfAnotherForm({ status, details: { errors } }: ApiError): boolean {
  return status === 400 && Array.isArray(errors) && errors.every(({ path }) => String(path).startsWith('/path/'))
}

/** A sentence about a failed request, for people. */
export function describeProblem(error: unknown): string {
  const response = asApiError(error)
  if (error instanceof UnreachableError) return 'The server cannot be reached. Check your connection, then try again.'
  if (response === null)
    return 'The console made a mistake. Reload the page, and tell your administrator if it returns.'
  // Some limits end by an act, not with time.
  const endsWithTime = response.details.resetAt !== null
  if (response.status === 429 && response.retryAfter && endsWithTime)
    return `${response.message.replace(/ Try again later\.$/, '')} Try again in ${formatDuration(response.retryAfter)}.`
  return response.message
}

/** The page or action needs a permission that the role of the user does not have. */
export function Forbidden({ permission }: { permission: unknown }) {
  const names = [permission]
    .flat()
    .map((name) => PERMISSION_NAMES[name as keyof typeof PERMISSION_NAMES] ?? String(name))
  return (
    <Empty icon={IconLock} title="You do not have permission">
      This needs the permission “{names.join('” or “')}”. Ask an Org admin of your organization for a role that has it.
    </Empty>
  )
}

type QueryViewProps<Data> = {
  query: UseQueryResult<Data, unknown>
  /** What is loaded, in the plural: "runs". */
  of: string
  /** The shape of the content while it loads. Defaults to a few lines. */
  skeleton?: ReactNode
  children: (data: Data) => ReactNode
}

/** Shows a query in each of its states. Old data stays while it is read again. */
export function QueryView<Data>({ query, of, skeleton, children }: QueryViewProps<Data>) {
  if (query.data !== undefined) return children(query.data)
  if (query.isError)
    return <Problem error={query.error} title={`The ${of} could not be loaded`} retry={() => query.refetch()} />
  return (
    <Box aria-busy>
      <VisuallyHidden role="status">Loading {of}</VisuallyHidden>
      {skeleton ?? <LineSkeleton lines={6} />}
    </Box>
  )
}

/** Grey lines in place of text or rows. */
export function LineSkeleton({ lines, height = 18 }: { lines: number; height?: number }) {
  return (
    <Stack gap="sm" aria-hidden>
      {Array.from({ length: lines }, (_, line) => (
        <Skeleton key={line} height={height} width={`${95 - ((line * 17) % 40)}%`} />
      ))}
    </Stack>
  )
}

type ErrorBoundaryProps = {
  /** What is shown in place of children that cannot be shown. It may throw the error on. */
  fallback: (error: unknown) => ReactNode
  children: ReactNode
}

type Failure = { failure: { error: unknown } | null }

/** Keeps a part of a page that fails, such as hostile Markdown, from taking the page with it. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, Failure> {
  override state: Failure = { failure: null }

  static getDerivedStateFromError(error: unknown): Failure {
    return { failure: { error } }
  }

  override render(): ReactNode {
    const { failure } = this.state
    return failure === null ? this.props.children : this.props.fallback(failure.error)
  }
}
