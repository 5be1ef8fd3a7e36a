import { Code, Text, Title } from '@mantine/core'
import { IconSquare, IconSquareCheck } from '@tabler/icons-react'
import { createContext, type ReactNode, useContext } from 'react'
import ReactMarkdown, { type Components } from 'react-markdown'
import remarkGfm from 'remark-gfm'
import { ExternalLink } from '../../page/link.tsx'
import { ScrollBox } from '../../page/sections.tsx'
import classes from './markdown.module.css'

const InLink = createContext(false)

/**
 * Markdown from a job, which may be hostile: HTML stays text, links lead to http and https only, and
 * no image is loaded. Headings are below those of the page.
 */
export function Markdown({ text }: { text: string }) {
  return (
    <div className={classes.markdown}>
      <ReactMarkdown remarkPlugins={[remarkGfm]} components={COMPONENTS}>
        {text}
      </ReactMarkdown>
    </div>
  )
}

type Parts = { children?: ReactNode }

function Heading({ children }: Parts) {
  return (
    <Title order={4} fz="sm">
      {children}
    </Title>
  )
}

function Anchor({ href, children }: Parts & { href?: string }) {
  return (
    <InLink value>
      <ExternalLink href={href ?? null}>{children}</ExternalLink>
    </InLink>
  )
}

function Image({ src, alt }: { src?: unknown; alt?: string }) {
  const isInLink = useContext(InLink)
  const text = alt || 'Image'
  if (isInLink || typeof src !== 'string') return text
  return <ExternalLink href={src}>{text}</ExternalLink>
}

function Checkbox({ checked }: { checked?: boolean }) {
  const Icon = checked ? IconSquareCheck : IconSquare
  return <Icon size={15} role="img" aria-label={checked ? 'Done' : 'Not done'} className={classes.task} />
}

const COMPONENTS: Components = {
  h1: Heading,
  h2: Heading,
  h3: Heading,
  h4: Heading,
  h5: Heading,
  h6: Heading,
  p: ({ children }) => <Text size="sm">{children}</Text>,
  a: Anchor,
  img: Image,
  input: Checkbox,
  code: ({ children }) => <Code>{children}</Code>,
  pre: ({ children }) => (
    <ScrollBox label="Code" className={classes.pre}>
      <pre>{children}</pre>
    </ScrollBox>
  ),
  table: ({ children }) => (
    <ScrollBox label="Table">
      <table>{children}</table>
    </ScrollBox>
  ),
  // Notes would link within the page, where several summaries may have the same names.
  sup: ({ children }) => <sup>{children}</sup>,
}
