ASCII SPSS PORT FILE                    ASCII SPSS PORT FILE                    
ASCII SPSS PORT FILE                    ASCII SPSS PORT FILE                    
ASCII SPSS PORT FILE                    0000000000000000000000000000000000000000
0000000000000000000000000123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrst
uvwxyz .<(+|&[]!$*);^-/|,%_>?`:$@'="000000~-0000123456789000-()0{}\0000000000000
00000000000000000000000000000000000000000000000000000000SPSSPORTA8/202611306/154
8271E/GNU pspp 1.6.23J/x86_64-pc-linux-gnu47/5B/70/2/ID5/3/0/5/3/0/70/2/Q15/9/2/
5/9/2/87/88/89/CA/Satisfied?70/2/Q25/9/2/5/9/2/B37/39/85/CC/Hours, "net"70/2/Q35
/9/2/5/9/2/9-1/70/2/Q45/9/2/5/9/2/73/2/S11/3/0/1/3/0/83/XX 83/zz 7C/2/S21/C/0/1/
C/0/88/refused C6/AnswerD1/2/Q16/1/3/yes2/2/no5/A/never used7/7/refused8/A/don't
 know9/9/not askedD1/2/Q24/1/3/one5/3/ONE37/7/refused38/7/refusedD1/2/Q32/-39/2/
na.F/4/halfD1/2/S13/3/XX C/missing text3/a  5/Alpha3/q  6/unusedD1/2/S22/C/refus
ed     7/RefusedC/yes         3/YesF1/1/1/-39/DLFKB3A/3/a  C/refused     2/2/5/-
1/0/3/zz C/no          3/9/37/0/0/3/   C/yes         4/8/38/5/LFD7NO93SB-73/3/XX
 C/don't know  5/7/39.F/1K/52CE69.3MF/3/a  C/ yes        6/*.3A/*.F7IBOFTROD0/3/
b  C/            ZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZ
