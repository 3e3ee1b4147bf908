% expect: right
% many calls of names that resemble many others, in a predicate nobody needs
initial(dawn).
initially(player(p1), dawn).
initially(player(p2), dawn).
initially(control(P), dawn) :- member(P, [p1, p2]).
legal(move(P, M), S) :- holds(control(P), S), member(M, [stag, hare]).
effect(hunted(P, M), move(P, M), _).
abnormal(control(P), move(P, _), _).
final(S) :- holds(hunted(p1, _), S), holds(hunted(p2, _), S).
catch_of(stag, stag, 4).
catch_of(stag, hare, 0).
catch_of(hare, _, 3).
finally(goal(p1, U), S) :- holds(hunted(p1, A), S), holds(hunted(p2, B), S), catch_of(A, B, U).
finally(goal(p2, U), S) :- holds(hunted(p1, A), S), holds(hunted(p2, B), S), catch_of(B, A, U).
name_0000(x).
name_0001(x).
name_0002(x).
name_0003(x).
name_0004(x).
name_0005(x).
name_0006(x).
name_0007(x).
name_0008(x).
name_0009(x).
name_0010(x).
name_0011(x).
name_0012(x).
name_0013(x).
name_0014(x).
name_0015(x).
name_0016(x).
name_0017(x).
name_0018(x).
name_0019(x).
name_0020(x).
name_0021(x).
name_0022(x).
name_0023(x).
name_0024(x).
name_0025(x).
name_0026(x).
name_0027(x).
name_0028(x).
name_0029(x).
name_0030(x).
name_0031(x).
name_0032(x).
name_0033(x).
name_0034(x).
name_0035(x).
name_0036(x).
name_0037(x).
name_0038(x).
name_0039(x).
name_0040(x).
name_0041(x).
name_0042(x).
name_0043(x).
name_0044(x).
name_0045(x).
name_0046(x).
name_0047(x).
name_0048(x).
name_0049(x).
name_0050(x).
name_0051(x).
name_0052(x).
name_0053(x).
name_0054(x).
name_0055(x).
name_0056(x).
name_0057(x).
name_0058(x).
name_0059(x).
name_0060(x).
name_0061(x).
name_0062(x).
name_0063(x).
name_0064(x).
name_0065(x).
name_0066(x).
name_0067(x).
name_0068(x).
name_0069(x).
name_0070(x).
name_0071(x).
name_0072(x).
name_0073(x).
name_0074(x).
name_0075(x).
name_0076(x).
name_0077(x).
name_0078(x).
name_0079(x).
name_0080(x).
name_0081(x).
name_0082(x).
name_0083(x).
name_0084(x).
name_0085(x).
name_0086(x).
name_0087(x).
name_0088(x).
name_0089(x).
name_0090(x).
name_0091(x).
name_0092(x).
name_0093(x).
name_0094(x).
name_0095(x).
name_0096(x).
name_0097(x).
name_0098(x).
name_0099(x).
name_0100(x).
name_0101(x).
name_0102(x).
name_0103(x).
name_0104(x).
name_0105(x).
name_0106(x).
name_0107(x).
name_0108(x).
name_0109(x).
name_0110(x).
name_0111(x).
name_0112(x).
name_0113(x).
name_0114(x).
name_0115(x).
name_0116(x).
name_0117(x).
name_0118(x).
name_0119(x).
name_0120(x).
name_0121(x).
name_0122(x).
name_0123(x).
name_0124(x).
name_0125(x).
name_0126(x).
name_0127(x).
name_0128(x).
name_0129(x).
name_0130(x).
name_0131(x).
name_0132(x).
name_0133(x).
name_0134(x).
name_0135(x).
name_0136(x).
name_0137(x).
name_0138(x).
name_0139(x).
name_0140(x).
name_0141(x).
name_0142(x).
name_0143(x).
name_0144(x).
name_0145(x).
name_0146(x).
name_0147(x).
name_0148(x).
name_0149(x).
name_0150(x).
name_0151(x).
name_0152(x).
name_0153(x).
name_0154(x).
name_0155(x).
name_0156(x).
name_0157(x).
name_0158(x).
name_0159(x).
name_0160(x).
name_0161(x).
name_0162(x).
name_0163(x).
name_0164(x).
name_0165(x).
name_0166(x).
name_0167(x).
name_0168(x).
name_0169(x).
name_0170(x).
name_0171(x).
name_0172(x).
name_0173(x).
name_0174(x).
name_0175(x).
name_0176(x).
name_0177(x).
name_0178(x).
name_0179(x).
name_0180(x).
name_0181(x).
name_0182(x).
name_0183(x).
name_0184(x).
name_0185(x).
name_0186(x).
name_0187(x).
name_0188(x).
name_0189(x).
name_0190(x).
name_0191(x).
name_0192(x).
name_0193(x).
name_0194(x).
name_0195(x).
name_0196(x).
name_0197(x).
name_0198(x).
name_0199(x).
name_0200(x).
name_0201(x).
name_0202(x).
name_0203(x).
name_0204(x).
name_0205(x).
name_0206(x).
name_0207(x).
name_0208(x).
name_0209(x).
name_0210(x).
name_0211(x).
name_0212(x).
name_0213(x).
name_0214(x).
name_0215(x).
name_0216(x).
name_0217(x).
name_0218(x).
name_0219(x).
name_0220(x).
name_0221(x).
name_0222(x).
name_0223(x).
name_0224(x).
name_0225(x).
name_0226(x).
name_0227(x).
name_0228(x).
name_0229(x).
name_0230(x).
name_0231(x).
name_0232(x).
name_0233(x).
name_0234(x).
name_0235(x).
name_0236(x).
name_0237(x).
name_0238(x).
name_0239(x).
name_0240(x).
name_0241(x).
name_0242(x).
name_0243(x).
name_0244(x).
name_0245(x).
name_0246(x).
name_0247(x).
name_0248(x).
name_0249(x).
name_0250(x).
name_0251(x).
name_0252(x).
name_0253(x).
name_0254(x).
name_0255(x).
name_0256(x).
name_0257(x).
name_0258(x).
name_0259(x).
name_0260(x).
name_0261(x).
name_0262(x).
name_0263(x).
name_0264(x).
name_0265(x).
name_0266(x).
name_0267(x).
name_0268(x).
name_0269(x).
name_0270(x).
name_0271(x).
name_0272(x).
name_0273(x).
name_0274(x).
name_0275(x).
name_0276(x).
name_0277(x).
name_0278(x).
name_0279(x).
name_0280(x).
name_0281(x).
name_0282(x).
name_0283(x).
name_0284(x).
name_0285(x).
name_0286(x).
name_0287(x).
name_0288(x).
name_0289(x).
name_0290(x).
name_0291(x).
name_0292(x).
name_0293(x).
name_0294(x).
name_0295(x).
name_0296(x).
name_0297(x).
name_0298(x).
name_0299(x).
name_0300(x).
name_0301(x).
name_0302(x).
name_0303(x).
name_0304(x).
name_0305(x).
name_0306(x).
name_0307(x).
name_0308(x).
name_0309(x).
name_0310(x).
name_0311(x).
name_0312(x).
name_0313(x).
name_0314(x).
name_0315(x).
name_0316(x).
name_0317(x).
name_0318(x).
name_0319(x).
name_0320(x).
name_0321(x).
name_0322(x).
name_0323(x).
name_0324(x).
name_0325(x).
name_0326(x).
name_0327(x).
name_0328(x).
name_0329(x).
name_0330(x).
name_0331(x).
name_0332(x).
name_0333(x).
name_0334(x).
name_0335(x).
name_0336(x).
name_0337(x).
name_0338(x).
name_0339(x).
name_0340(x).
name_0341(x).
name_0342(x).
name_0343(x).
name_0344(x).
name_0345(x).
name_0346(x).
name_0347(x).
name_0348(x).
name_0349(x).
name_0350(x).
name_0351(x).
name_0352(x).
name_0353(x).
name_0354(x).
name_0355(x).
name_0356(x).
name_0357(x).
name_0358(x).
name_0359(x).
name_0360(x).
name_0361(x).
name_0362(x).
name_0363(x).
name_0364(x).
name_0365(x).
name_0366(x).
name_0367(x).
name_0368(x).
name_0369(x).
name_0370(x).
name_0371(x).
name_0372(x).
name_0373(x).
name_0374(x).
name_0375(x).
name_0376(x).
name_0377(x).
name_0378(x).
name_0379(x).
name_0380(x).
name_0381(x).
name_0382(x).
name_0383(x).
name_0384(x).
name_0385(x).
name_0386(x).
name_0387(x).
name_0388(x).
name_0389(x).
name_0390(x).
name_0391(x).
name_0392(x).
name_0393(x).
name_0394(x).
name_0395(x).
name_0396(x).
name_0397(x).
name_0398(x).
name_0399(x).
name_0400(x).
name_0401(x).
name_0402(x).
name_0403(x).
name_0404(x).
name_0405(x).
name_0406(x).
name_0407(x).
name_0408(x).
name_0409(x).
name_0410(x).
name_0411(x).
name_0412(x).
name_0413(x).
name_0414(x).
name_0415(x).
name_0416(x).
name_0417(x).
name_0418(x).
name_0419(x).
name_0420(x).
name_0421(x).
name_0422(x).
name_0423(x).
name_0424(x).
name_0425(x).
name_0426(x).
name_0427(x).
name_0428(x).
name_0429(x).
name_0430(x).
name_0431(x).
name_0432(x).
name_0433(x).
name_0434(x).
name_0435(x).
name_0436(x).
name_0437(x).
name_0438(x).
name_0439(x).
name_0440(x).
name_0441(x).
name_0442(x).
name_0443(x).
name_0444(x).
name_0445(x).
name_0446(x).
name_0447(x).
name_0448(x).
name_0449(x).
name_0450(x).
name_0451(x).
name_0452(x).
name_0453(x).
name_0454(x).
name_0455(x).
name_0456(x).
name_0457(x).
name_0458(x).
name_0459(x).
name_0460(x).
name_0461(x).
name_0462(x).
name_0463(x).
name_0464(x).
name_0465(x).
name_0466(x).
name_0467(x).
name_0468(x).
name_0469(x).
name_0470(x).
name_0471(x).
name_0472(x).
name_0473(x).
name_0474(x).
name_0475(x).
name_0476(x).
name_0477(x).
name_0478(x).
name_0479(x).
name_0480(x).
name_0481(x).
name_0482(x).
name_0483(x).
name_0484(x).
name_0485(x).
name_0486(x).
name_0487(x).
name_0488(x).
name_0489(x).
name_0490(x).
name_0491(x).
name_0492(x).
name_0493(x).
name_0494(x).
name_0495(x).
name_0496(x).
name_0497(x).
name_0498(x).
name_0499(x).
name_0500(x).
name_0501(x).
name_0502(x).
name_0503(x).
name_0504(x).
name_0505(x).
name_0506(x).
name_0507(x).
name_0508(x).
name_0509(x).
name_0510(x).
name_0511(x).
name_0512(x).
name_0513(x).
name_0514(x).
name_0515(x).
name_0516(x).
name_0517(x).
name_0518(x).
name_0519(x).
name_0520(x).
name_0521(x).
name_0522(x).
name_0523(x).
name_0524(x).
name_0525(x).
name_0526(x).
name_0527(x).
name_0528(x).
name_0529(x).
name_0530(x).
name_0531(x).
name_0532(x).
name_0533(x).
name_0534(x).
name_0535(x).
name_0536(x).
name_0537(x).
name_0538(x).
name_0539(x).
name_0540(x).
name_0541(x).
name_0542(x).
name_0543(x).
name_0544(x).
name_0545(x).
name_0546(x).
name_0547(x).
name_0548(x).
name_0549(x).
name_0550(x).
name_0551(x).
name_0552(x).
name_0553(x).
name_0554(x).
name_0555(x).
name_0556(x).
name_0557(x).
name_0558(x).
name_0559(x).
name_0560(x).
name_0561(x).
name_0562(x).
name_0563(x).
name_0564(x).
name_0565(x).
name_0566(x).
name_0567(x).
name_0568(x).
name_0569(x).
name_0570(x).
name_0571(x).
name_0572(x).
name_0573(x).
name_0574(x).
name_0575(x).
name_0576(x).
name_0577(x).
name_0578(x).
name_0579(x).
name_0580(x).
name_0581(x).
name_0582(x).
name_0583(x).
name_0584(x).
name_0585(x).
name_0586(x).
name_0587(x).
name_0588(x).
name_0589(x).
name_0590(x).
name_0591(x).
name_0592(x).
name_0593(x).
name_0594(x).
name_0595(x).
name_0596(x).
name_0597(x).
name_0598(x).
name_0599(x).
name_0600(x).
name_0601(x).
name_0602(x).
name_0603(x).
name_0604(x).
name_0605(x).
name_0606(x).
name_0607(x).
name_0608(x).
name_0609(x).
name_0610(x).
name_0611(x).
name_0612(x).
name_0613(x).
name_0614(x).
name_0615(x).
name_0616(x).
name_0617(x).
name_0618(x).
name_0619(x).
name_0620(x).
name_0621(x).
name_0622(x).
name_0623(x).
name_0624(x).
name_0625(x).
name_0626(x).
name_0627(x).
name_0628(x).
name_0629(x).
name_0630(x).
name_0631(x).
name_0632(x).
name_0633(x).
name_0634(x).
name_0635(x).
name_0636(x).
name_0637(x).
name_0638(x).
name_0639(x).
name_0640(x).
name_0641(x).
name_0642(x).
name_0643(x).
name_0644(x).
name_0645(x).
name_0646(x).
name_0647(x).
name_0648(x).
name_0649(x).
name_0650(x).
name_0651(x).
name_0652(x).
name_0653(x).
name_0654(x).
name_0655(x).
name_0656(x).
name_0657(x).
name_0658(x).
name_0659(x).
name_0660(x).
name_0661(x).
name_0662(x).
name_0663(x).
name_0664(x).
name_0665(x).
name_0666(x).
name_0667(x).
name_0668(x).
name_0669(x).
name_0670(x).
name_0671(x).
name_0672(x).
name_0673(x).
name_0674(x).
name_0675(x).
name_0676(x).
name_0677(x).
name_0678(x).
name_0679(x).
name_0680(x).
name_0681(x).
name_0682(x).
name_0683(x).
name_0684(x).
name_0685(x).
name_0686(x).
name_0687(x).
name_0688(x).
name_0689(x).
name_0690(x).
name_0691(x).
name_0692(x).
name_0693(x).
name_0694(x).
name_0695(x).
name_0696(x).
name_0697(x).
name_0698(x).
name_0699(x).
name_0700(x).
name_0701(x).
name_0702(x).
name_0703(x).
name_0704(x).
name_0705(x).
name_0706(x).
name_0707(x).
name_0708(x).
name_0709(x).
name_0710(x).
name_0711(x).
name_0712(x).
name_0713(x).
name_0714(x).
name_0715(x).
name_0716(x).
name_0717(x).
name_0718(x).
name_0719(x).
name_0720(x).
name_0721(x).
name_0722(x).
name_0723(x).
name_0724(x).
name_0725(x).
name_0726(x).
name_0727(x).
name_0728(x).
name_0729(x).
name_0730(x).
name_0731(x).
name_0732(x).
name_0733(x).
name_0734(x).
name_0735(x).
name_0736(x).
name_0737(x).
name_0738(x).
name_0739(x).
name_0740(x).
name_0741(x).
name_0742(x).
name_0743(x).
name_0744(x).
name_0745(x).
name_0746(x).
name_0747(x).
name_0748(x).
name_0749(x).
name_0750(x).
name_0751(x).
name_0752(x).
name_0753(x).
name_0754(x).
name_0755(x).
name_0756(x).
name_0757(x).
name_0758(x).
name_0759(x).
name_0760(x).
name_0761(x).
name_0762(x).
name_0763(x).
name_0764(x).
name_0765(x).
name_0766(x).
name_0767(x).
name_0768(x).
name_0769(x).
name_0770(x).
name_0771(x).
name_0772(x).
name_0773(x).
name_0774(x).
name_0775(x).
name_0776(x).
name_0777(x).
name_0778(x).
name_0779(x).
name_0780(x).
name_0781(x).
name_0782(x).
name_0783(x).
name_0784(x).
name_0785(x).
name_0786(x).
name_0787(x).
name_0788(x).
name_0789(x).
name_0790(x).
name_0791(x).
name_0792(x).
name_0793(x).
name_0794(x).
name_0795(x).
name_0796(x).
name_0797(x).
name_0798(x).
name_0799(x).
unused0 :- name_0000x(y).
unused1 :- name_0001x(y).
unused2 :- name_0002x(y).
unused3 :- name_0003x(y).
unused4 :- name_0004x(y).
unused5 :- name_0005x(y).
unused6 :- name_0006x(y).
unused7 :- name_0007x(y).
unused8 :- name_0008x(y).
unused9 :- name_0009x(y).
unused10 :- name_0010x(y).
unused11 :- name_0011x(y).
unused12 :- name_0012x(y).
unused13 :- name_0013x(y).
unused14 :- name_0014x(y).
unused15 :- name_0015x(y).
unused16 :- name_0016x(y).
unused17 :- name_0017x(y).
unused18 :- name_0018x(y).
unused19 :- name_0019x(y).
unused20 :- name_0020x(y).
unused21 :- name_0021x(y).
unused22 :- name_0022x(y).
unused23 :- name_0023x(y).
unused24 :- name_0024x(y).
unused25 :- name_0025x(y).
unused26 :- name_0026x(y).
unused27 :- name_0027x(y).
unused28 :- name_0028x(y).
unused29 :- name_0029x(y).
unused30 :- name_0030x(y).
unused31 :- name_0031x(y).
unused32 :- name_0032x(y).
unused33 :- name_0033x(y).
unused34 :- name_0034x(y).
unused35 :- name_0035x(y).
unused36 :- name_0036x(y).
unused37 :- name_0037x(y).
unused38 :- name_0038x(y).
unused39 :- name_0039x(y).
unused40 :- name_0040x(y).
unused41 :- name_0041x(y).
unused42 :- name_0042x(y).
unused43 :- name_0043x(y).
unused44 :- name_0044x(y).
unused45 :- name_0045x(y).
unused46 :- name_0046x(y).
unused47 :- name_0047x(y).
unused48 :- name_0048x(y).
unused49 :- name_0049x(y).
unused50 :- name_0050x(y).
unused51 :- name_0051x(y).
unused52 :- name_0052x(y).
unused53 :- name_0053x(y).
unused54 :- name_0054x(y).
unused55 :- name_0055x(y).
unused56 :- name_0056x(y).
unused57 :- name_0057x(y).
unused58 :- name_0058x(y).
unused59 :- name_0059x(y).
unused60 :- name_0060x(y).
unused61 :- name_0061x(y).
unused62 :- name_0062x(y).
unused63 :- name_0063x(y).
unused64 :- name_0064x(y).
unused65 :- name_0065x(y).
unused66 :- name_0066x(y).
unused67 :- name_0067x(y).
unused68 :- name_0068x(y).
unused69 :- name_0069x(y).
unused70 :- name_0070x(y).
unused71 :- name_0071x(y).
unused72 :- name_0072x(y).
unused73 :- name_0073x(y).
unused74 :- name_0074x(y).
unused75 :- name_0075x(y).
unused76 :- name_0076x(y).
unused77 :- name_0077x(y).
unused78 :- name_0078x(y).
unused79 :- name_0079x(y).
unused80 :- name_0080x(y).
unused81 :- name_0081x(y).
unused82 :- name_0082x(y).
unused83 :- name_0083x(y).
unused84 :- name_0084x(y).
unused85 :- name_0085x(y).
unused86 :- name_0086x(y).
unused87 :- name_0087x(y).
unused88 :- name_0088x(y).
unused89 :- name_0089x(y).
unused90 :- name_0090x(y).
unused91 :- name_0091x(y).
unused92 :- name_0092x(y).
unused93 :- name_0093x(y).
unused94 :- name_0094x(y).
unused95 :- name_0095x(y).
unused96 :- name_0096x(y).
unused97 :- name_0097x(y).
unused98 :- name_0098x(y).
unused99 :- name_0099x(y).
