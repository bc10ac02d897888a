# Which versions of which packages a program needs. First the packages' own *.symbols files (dpkg's), then, as "-", what
# readelf says of the program: --dynamic, --version-info, --dyn-syms. Prints "PACKAGE VERSION" for each need, and
# "unknown ..." for what none of the packages has.
FNR == 1 { isProgram = FILENAME == "-" }

!isProgram && /^[^ |*]/ { library = $1; owner[library] = $2; next }
!isProgram && /^ / {
    minimum[library, $1] = $2
    node = $1
    sub(/.*@/, "", node)
    # For symbols that this architecture's library does not have: the latest that its version stands for.
    if (!((library, node) in latest) || later($2, latest[library, node])) latest[library, node] = $2
    next
}
!isProgram { next }

/\(NEEDED\)/ {
    gsub(/.*\[|\].*/, "")
    if ($0 !~ /^ld-linux/) needed[$0] = 1
}
/ File: / { for (i = 1; i < NF; i++) if ($i == "File:") file = $(i + 1) }
/ Name: / && / Flags: / {
    need($3 "@" $3)
    nodes[file, $3] = 1
}
$7 == "UND" && $8 ~ /@/ { need($8) }

function need(symbol) { symbols[symbol] = 1 }

function later(left, right,    a, b, i, n, m) {
    n = split(left, a, /[^0-9]+/)
    m = split(right, b, /[^0-9]+/)
    for (i = 1; i <= n || i <= m; i++) if (a[i] + 0 != b[i] + 0) return a[i] + 0 > b[i] + 0
    return 0
}

END {
    for (library in needed) {
        if (!(library in owner)) { print "unknown " library; continue }
        print owner[library], 0
        for (symbol in symbols) {
            node = symbol
            sub(/.*@/, "", node)
            if ((library, symbol) in minimum) print owner[library], minimum[library, symbol]
            else if ((library, node) in latest) print owner[library], latest[library, node]
        }
    }
    for (pair in nodes) {
        split(pair, part, SUBSEP)
        library = part[1]
        node = part[2]
        if (!(library in owner) || (library, node "@" node) in minimum || (library, node) in latest) continue
        # The C library is newer there than here: its nodes are its versions.
        if (node ~ /^GLIBC_[0-9.]+$/) print owner[library], substr(node, 7)
        else if (library !~ /^ld-linux/) print "unknown " node " of " library
    }
}
