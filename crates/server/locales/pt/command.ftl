command-next-steps =
    O quire guarda documentos em caixas e os oferece por HTTPS: pesquisa, texto integral, perguntas e respostas.

      quire quickstart                       experimentar: cria uma conta, uma caixa e uma chave, e inicia o servidor
      quire serve --data DIR                 iniciar um servidor; antes: `quire user add`, `box add` e `key add`
      quire doctor --data DIR                verificar uma instalação
      quire add BOX PATH…                    enviar arquivos    (com uma chave em QUIRE_API_KEY)
      quire sync BOX DIR                     manter uma pasta e uma caixa iguais
      quire search BOX QUERY                 pesquisar numa caixa
      quire ask BOX QUESTION                 perguntar a uma caixa

    `quire --help` mostra todos os comandos; `quire COMANDO --help` explica um.
command-ready =
    O quire { $version } está pronto.

      Endereço   { $url }
      Conta      { $account }
      Caixa      { $box } ({ $id })
      Chave API  { $key }
                 mostrada só uma vez; vale até { $expires } ou até o próximo quickstart a substituir

    { $dashboard }

    Experimente a API:

      { $check }

    A caixa contém a documentação do quire. Pesquise nela:

      { $search }

    Faça uma pergunta a ela e adicione seus próprios documentos:

      { $export }
      { $ask }
      { $add }

    Tudo fica guardado em { $data }. Ctrl-C para o servidor.
command-set-up-link = Configure o painel com este link (funciona uma só vez): { $link }
command-dashboard-at = O painel está em { $url }
command-created-folder = { $folder } foi criada
command-error = erro:
command-because = causa: { $cause }
command-type-yes = Escreva { $yes } para confirmar:
command-yes = sim

command-preparing = Preparando a pasta de dados
command-loading = Carregando os modelos e abrindo as caixas
command-processing-sample = Processando os documentos de exemplo
command-asking = Perguntando
command-asking-server = Consultando o servidor
command-searching = Pesquisando
command-checking = Verificando
command-checking-model = Verificando { $name }
command-fetching = Baixando { $name }
command-copying = Copiando
command-copying-originals = Originais
command-copying-boxes = Caixas
command-restoring = Restaurando
command-copying-records = Copiando os registros
command-switching = Comparando as duas cópias e mudando para a nova
command-deleting = Excluindo
command-deleting-file = Excluindo o arquivo { $number } de { $count }
command-exporting = Exportando
command-importing = Importando
command-reading-back = Relendo o que foi escrito
command-comparing-box = Comparando com o conteúdo da caixa
command-comparing-folder = Comparando a pasta com a caixa
command-listing = Listando os arquivos
command-uploading = Enviando
command-processing = Processando
command-rebuilding = Reconstruindo
command-files = arquivos
command-originals = originais
command-questions = perguntas
command-busy = O servidor está ocupado ou atingiu seu limite; nova tentativa em { $count } s
command-watching = Observando { $folder }; Ctrl-C termina

command-place = { $file }, página { $page }
command-note = Nota: { $text }
command-nothing-found = Nada foi encontrado.
command-units =
    { $count ->
        [one] 1 unidade
       *[other] { $count } unidades
    }
command-units-left = { $units }, restam { $count } este mês

command-answerer-right = { $model }: { $right } de { $count } certas
command-answerer-cannot = não consegue: tais pedidos recebem um erro
command-box-added = A caixa { $box } ({ $id }) foi adicionada
command-box-language = O idioma de { $box } é agora { $language }
command-box-language-rebuilt = O idioma de { $box } é agora { $language }; o servidor reconstrói o índice e, entretanto, a caixa pode ser usada
command-no-boxes = Ainda não há caixas; adicione uma com `quire box add NAME --owner EMAIL`.
command-no-usable-box = Esta chave não pode usar nenhuma caixa: seu usuário precisa ser proprietário ou administrador de uma.
command-granted = { $email } é agora { $role } de { $box }
command-revoked-role = { $email } já não tem nenhuma função em { $box }
command-moved-box = { $box } passou do cluster { $from } para o { $to }: { $files }
command-delete-box = Excluir definitivamente a caixa { $box } e seus { $count } arquivos?
command-deleted-box = A caixa { $box } foi excluída
command-exported = { $box } foi exportada para { $file }: { $files } arquivos, { $passages } passagens
command-exported-unread = { $said }; { $count } deles ainda não foram processados e serão processados depois da importação
command-imported = A caixa { $box } ({ $id }) foi importada para { $owner }: { $files } arquivos, { $passages } passagens
command-imported-other-model = A exportação foi indexada com o modelo { $before } e este servidor usa { $model }: seus { $count } arquivos são processados de novo, como se tivessem acabado de ser enviados, e só depois podem ser encontrados.
command-imported-unread = { $count } arquivos ainda não tinham sido processados; estão na fila.
command-backed-up = Cópia de segurança de { $from } em { $to }: { $files } arquivos, { $copied } deles copiados ({ $megabytes } MB), os outros sem alterações desde a cópia anterior
command-backup-changed = { $count } arquivos mudaram entretanto; são processados de novo após uma restauração.
command-backup-damaged = { $count } originais estão danificados no armazenamento e, por isso, na cópia: ver `quire doctor --scrub`
command-backup-sound = { $backup } de { $when } está em bom estado: { $files } arquivos
command-restored =
    { $backup } de { $when } foi restaurada em { $folder }: { $files } arquivos, todos comparados com suas somas de verificação.
    Inicie com `quire serve --data { $folder }`.
command-migrated = Foram movidos { $records } registros, { $originals } originais e o texto de { $files } arquivos; tudo comparado e igual.
command-added-files = { $added } adicionados, { $known } já existiam, { $failed } com erro
command-no-files = Ainda não há arquivos; adicione alguns com `quire add BOX PATH…`.
command-processing-page = processando { $page }/{ $pages }
command-deleted-file = { $name } foi excluído: { $originals } original, { $pages } páginas, { $chunks } passagens, { $vectors } vetores
command-new-key =
    { $key }

    Guarde-a bem: é mostrada só uma vez e só o seu hash é guardado.
command-no-keys = Ainda não há chaves; crie uma com `quire key add --user EMAIL`.
command-revoked-key = { $prefix } foi revogada, com efeito a partir do próximo pedido
command-exposed = exposta
command-all = todas
command-anywhere = qualquer lugar
command-none = nenhum
command-pulled = { $model } baixado e verificado: { $folder }
command-pulled-before = { $model } já está aqui, intacto: { $folder }
command-user-has = { $email } tem agora { $limits }
command-plan-gives = O plano { $plan } dá { $limits }
command-usual-units = as unidades mensais padrão
command-units-a-month = { $count } unidades por mês
command-gone-back = O índice voltou a ser o de { $model }; { $count } arquivos são processados de novo.
command-reindexed = Foram indexados { $files } arquivos ({ $passages } passagens) com { $model } (antes: { $before }); { $overlap }. `quire reindex BOX --back` volta atrás.
command-overlap = { $share }% do que as últimas { $count } pesquisas encontraram também é encontrado pelo novo índice
command-no-queries = não havia pesquisas recentes para comparar
command-user-added = { $email } ({ $id }) foi adicionado
command-no-users = Ainda não há contas; adicione uma com `quire user add EMAIL`.
command-default = padrão
command-user-disabled = desativada
command-user-unconfirmed = endereço não confirmado
command-user-active = ativa
command-disabled = { $email } foi desativado, com efeito a partir do próximo pedido
command-enabled = { $email } foi ativado, com efeito a partir do próximo pedido
command-unlocked = { $email } foi desbloqueado: o próximo login não precisa esperar
command-confirmed = { $email } foi confirmado: os convites pendentes para este endereço já têm efeito
command-logged-questions = { $count } perguntas estão em { $file }; verifique e corrija o que cada uma deve encontrar antes de usá-las
command-sync-gone = { $count } arquivos de { $source } já não existem lá. Excluí-los da caixa?
command-sync-held-back = { $count } arquivos já não estão na pasta; ficam na caixa até `quire sync` ser executado com --yes
command-synced = { $added } adicionados, { $changed } alterados, { $renamed } renomeados, { $removed } excluídos, { $failed } com erro, { $unchanged } sem alterações
command-skipped = { $count } ignorados
command-more-skipped = …; --json mostra todos

command-head-name = NOME
command-head-id = ID
command-head-language = IDIOMA
command-head-created = CRIADA
command-head-members = MEMBROS
command-head-role = FUNÇÃO
command-head-status = ESTADO
command-head-pages = PÁGINAS
command-head-size = TAMANHO
command-head-note = NOTA
command-head-prefix = PREFIXO
command-head-account = CONTA
command-head-state = ESTADO
command-head-last-used = ÚLTIMO USO
command-head-expires = EXPIRA
command-head-boxes = CAIXAS
command-head-may = PODE
command-head-from = DE
command-head-email = E-MAIL
command-head-plan = PLANO
command-head-units = UNIDADES/MÊS
command-head-bounds = LIMITES
command-head-used-as = USADO COMO
command-head-in-use-as = EM USO COMO
command-head-model = MODELO
command-head-version = VERSÃO
command-head-place = LOCAL
command-head-what = O QUÊ
command-head-it = TESTE
command-head-result = RESULTADO
command-head-cites = CITA
command-head-first-word = PRIMEIRA PALAVRA
command-head-whole = TOTAL
command-head-said = DISSE
command-no = não
command-trial-prose = responde a partir de um texto
command-trial-table = responde a partir de uma tabela
command-trial-german = responde em alemão
command-trial-none = diz quando não há resposta
command-trial-json = responde em JSON
