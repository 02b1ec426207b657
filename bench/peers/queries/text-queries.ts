/** Parts of texts, words, lists, objects, and paths that are rare or of several types. */
import type { PeerQuery } from './peer-query.ts'

export const textQueries: readonly PeerQuery[] = [
  {
    name: 'ILIKE, a part of a rare word',
    btql: (c) => `measures: count(1) as n\nfilter: output ILIKE '%${c.rareWord.slice(1, -1)}%'`,
    sql: (q, c) =>
      `select count(*) as n from ${q.table} where ${q.outputContains(c.rareWord.slice(1, -1))}`,
  },
  {
    name: 'ILIKE, a common word',
    btql: (c) => `measures: count(1) as n\nfilter: output ILIKE '%${c.commonWord}%'`,
    sql: (q, c) => `select count(*) as n from ${q.table} where ${q.outputContains(c.commonWord)}`,
  },
  {
    name: 'ILIKE, rare Han characters',
    btql: (c) => `measures: count(1) as n\nfilter: output ILIKE '%${c.rareHan}%'`,
    sql: (q, c) => `select count(*) as n from ${q.table} where ${q.outputContains(c.rareHan)}`,
  },
  {
    name: 'ILIKE on a dictionary',
    btql: (c) => `measures: count(1) as n\nfilter: metadata.model ILIKE '%${c.modelPart}%'`,
    sql: (q, c) => `select count(*) as n from ${q.table} where ${q.model} ilike '%${c.modelPart}%'`,
  },
  {
    name: 'search, a rare word in any field',
    btql: (c) => `measures: count(1) as n\nfilter: search('${c.rareWord}')`,
    sql: (q, c) => `select count(*) as n from ${q.table} where ${q.textHas(c.rareWord)}`,
  },
  {
    name: 'search, a word of one row, whole',
    btql: (c) =>
      `select: *\nfilter: search('${c.singleWord}')\nsort: created desc\nlimit: ${c.fewer}`,
    sql: (q, c) => `select ${q.body} as body from ${q.table} where ${q.textHas(c.singleWord)}
        order by ${q.created} desc limit ${c.fewer}`,
    isOrdered: true,
    isWhole: true,
  },
  {
    name: 'match, two usual words',
    btql: (c) => `measures: count(1) as n\nfilter: output match '${c.usualWord} ${c.commonWord}'`,
    sql: (q, c) => `select count(*) as n from ${q.table}
        where ${q.outputHas([c.usualWord, c.commonWord])}`,
  },
  {
    name: 'match, an unusual word by model',
    btql: (c) => `dimensions: metadata.model as model
measures: count(1) as n
filter: output match '${c.unusualWord}'`,
    sql: (q, c) => `select ${q.model} as model, count(*) as n from ${q.table}
        where ${q.outputHas([c.unusualWord])} group by model`,
  },
  {
    name: 'match, latest 10 of one in a thousand',
    btql: (c) => `select: id, created
filter: output match '${c.thousandthWord}'
sort: created desc
limit: ${c.fewer}`,
    sql: (q, c) => `select ${q.id} as id, ${q.ms(q.created)} as created from ${q.table}
        where ${q.outputHas([c.thousandthWord.toLowerCase()])}
        order by ${q.created} desc limit ${c.fewer}`,
    isOrdered: true,
    times: ['created'],
  },
  {
    name: 'tags include one',
    btql: (c) => `measures: count(1) as ${c.alias}\nfilter: tags includes '${c.tag}'`,
    sql: (q, c) => `select count(*) as ${c.alias} from ${q.table} where ${q.hasTag(c.tag)}`,
  },
  {
    name: 'tags include two',
    btql: (c) => `dimensions: metadata.environment as environment
measures: count(1) as n
filter: tags includes ['${c.tag}', '${c.otherTag}']`,
    sql: (q, c) => `select ${q.environment} as environment, count(*) as n from ${q.table}
        where ${q.hasTag(c.tag)} and ${q.hasTag(c.otherTag)} group by environment`,
  },
  {
    name: 'group by each tag',
    btql: (c) => `dimensions: tag\nmeasures: count(1) as ${c.alias}\nunpivot: tags as tag`,
    sql: (q, c) => `select tag, count(*) as ${c.alias} from (${q.eachTag}) as tags group by tag`,
  },
  {
    name: 'an object includes an object',
    btql: (c) =>
      `measures: count(1) as n\nfilter: metadata.customer includes {plan: '${c.plan}', tier: ${c.tier}}`,
    sql: (q, c) =>
      `select count(*) as n from ${q.table} where ${q.plan} = '${c.plan}' and ${q.tier} = ${c.tier}`,
  },
  {
    name: 'a list includes an object',
    btql: (c) =>
      `measures: count(1) as n\nfilter: output.hits includes {document: '${c.document}'}`,
    sql: (q, c) => `select count(*) as n from ${q.table} where ${q.hitOf(c.document)}`,
  },
  {
    name: 'path of several types, a number',
    btql: (c) =>
      `measures: count(1) as n, avg(metrics.tokens) as tokens\nfilter: metadata.priority > ${c.priority}`,
    sql: (q, c) => `select count(*) as n, avg(${q.tokens}) as tokens from ${q.table}
        where ${q.priorityNumber} > ${c.priority}`,
  },
  {
    name: 'path of several types, a string or an object',
    btql: (c) => `measures: count(1) as n
filter: metadata.priority = '${c.priorityText}' or metadata.priority.level = ${c.level}`,
    sql: (q, c) => `select count(*) as n from ${q.table}
        where ${q.priorityText} = '${c.priorityText}' or ${q.priorityLevel} = ${c.level}`,
  },
  {
    name: 'rare path',
    btql: (c) => `measures: count(1) as n\nfilter: metadata.${c.flag} = ${c.isFlagged}`,
    sql: (q, c) =>
      `select count(*) as n from ${q.table} where ${q.flagOf(c.flag)} = ${c.isFlagged}`,
  },
]
